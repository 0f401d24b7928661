// Calls an admission webhook: sends an AdmissionReview over HTTPS and checks the response.
import { randomUUID } from 'node:crypto';
import { parseJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import type { AdmissionRequest } from '../rest/context.ts';
import type { StatusDetails } from '../rest/fault.ts';
import { scaleOf } from '../rest/subresources/scale.ts';
import type { Resource } from '../resource.ts';
import { postReview } from '../webhook-client.ts';
import type { ServiceResolver } from '../webhook-client.ts';
import type { Webhook } from './match.ts';

export interface WebhookResponse {
  readonly allowed: boolean;
  readonly status?: {
    readonly code?: number;
    readonly message?: string;
    readonly reason?: string;
    readonly details?: StatusDetails;
  };
  readonly patch?: readonly unknown[];
  readonly warnings: readonly string[];
}

const defaultTimeoutSeconds = 10;

/** Rejects when the webhook cannot be reached or its response is invalid. */
export async function callWebhook(
  webhook: Webhook,
  request: AdmissionRequest,
  resource: Resource,
  resolve: ServiceResolver,
): Promise<WebhookResponse> {
  const uid = randomUUID();
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: { uid, ...admissionRequestOf(request, resource) },
  };
  const { clientConfig = {}, timeoutSeconds = defaultTimeoutSeconds } = webhook;
  const answer = await prefixErrors('failed to call webhook', () =>
    postReview(clientConfig, review, resolve, timeoutSeconds),
  );
  return prefixErrors('received invalid webhook response', () => parseResponse(answer, uid));
}

async function prefixErrors<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** The `request` of an AdmissionReview without its uid. Match conditions see the same. */
export function admissionRequestOf(request: AdmissionRequest, resource: Resource): Readonly<Record<string, unknown>> {
  const { target, options, operation } = request;
  const { subresource } = target;
  const isScale = subresource === 'scale';
  const scaleOrObject = (object: AnyObject | undefined): object | null => {
    if (object === undefined) return null;
    return isScale ? scaleOf(target, object) : object;
  };
  const kind = ({ group, version, kind: name }: Resource): object =>
    isScale ? scaleKind : { group, version, kind: name };
  const plural = ({ group, version, plural: name }: Resource): object => ({ group, version, resource: name });
  return {
    kind: kind(resource),
    resource: plural(resource),
    ...(subresource !== '' && { subResource: subresource, requestSubResource: subresource }),
    requestKind: kind(target.resource),
    requestResource: plural(target.resource),
    ...(target.name !== '' && { name: target.name }),
    ...(target.namespace !== '' && { namespace: target.namespace }),
    operation,
    userInfo: options.user,
    object: scaleOrObject(request.object),
    oldObject: scaleOrObject(request.oldObject),
    dryRun: options.dryRun,
    options: {
      ...options.given,
      kind: `${operation.charAt(0)}${operation.slice(1).toLowerCase()}Options`,
      apiVersion: 'meta.k8s.io/v1',
    },
  };
}

function parseResponse(review: unknown, uid: string): WebhookResponse {
  const response = (review as { response?: Record<string, unknown> } | null)?.response;
  if (typeof response !== 'object' || response === null) throw new Error('webhook response was absent');
  if (response['uid'] !== uid) throw new Error(`expected response.uid="${uid}", got "${String(response['uid'])}"`);
  const { patch, patchType, warnings, status } = response;
  if (patch !== undefined && patchType === undefined) {
    throw new Error('webhook returned response.patch but not response.patchType');
  }
  if (patch !== undefined && patchType !== 'JSONPatch') {
    throw new Error(`invalid value of response.patchType="${String(patchType)}": must be JSONPatch`);
  }
  return {
    allowed: response['allowed'] === true,
    ...(typeof status === 'object' && status !== null && { status }),
    ...(typeof patch === 'string' && { patch: parseJson(Buffer.from(patch, 'base64').toString()) as unknown[] }),
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
  };
}
