// Calls the admission webhooks for a write: the mutating ones one after the other, then the validating ones in parallel.
import type { AnyObject } from '../../kube/objects.ts';
import { convert } from '../conversion/forms.ts';
import { applyJsonPatch } from '../patch/index.ts';
import { sameJson } from '../patch/json.ts';
import type { Registry } from '../registry.ts';
import { apiVersionOf, collectionOf } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { AdmissionRequest, Hooks, Reviews } from '../rest/context.ts';
import { Fault, forbidden, internal } from '../rest/fault.ts';
import type { Store } from '../store/store.ts';
import { callWebhook } from './call.ts';
import type { ServiceResolver } from '../webhook-client.ts';
import type { WebhookResponse } from './call.ts';
import { conditionsHold } from './conditions.ts';
import { matchingResource } from './match.ts';
import type { Webhook } from './match.ts';

const group = 'admissionregistration.k8s.io';
const mutating = `mutatingwebhookconfigurations.${group}`;
const validating = `validatingwebhookconfigurations.${group}`;

export function webhookAdmission(store: Store, registry: Registry, hooks: Hooks): Reviews {
  const resolve = hooks.resolveService ?? (() => undefined);
  const matchingWebhooks = (
    collection: string,
    request: AdmissionRequest,
  ): { webhook: Webhook; resource: Resource }[] => {
    // Webhooks are not called for webhook configurations, so that a broken one can be repaired.
    if (store.count(collection) === 0 || request.target.resource.group === group) return [];
    const { resource } = request.target;
    const versions = registry
      .all()
      .filter(
        (other) => other !== resource && other.kind === resource.kind && collectionOf(other) === collectionOf(resource),
      );
    return webhooksOf(store, collection).flatMap((webhook) => {
      const found = matchingResource(webhook, request, store, versions);
      return found === undefined ? [] : [{ webhook, resource: found }];
    });
  };
  return {
    async mutate(request) {
      const matching = matchingWebhooks(mutating, request);
      let { object } = request;
      /** The object after the last call of each webhook. */
      const lastResults = new Map<Webhook, AnyObject | undefined>();
      for (const round of ['first', 'again']) {
        for (const { webhook, resource } of matching) {
          const skipped =
            round === 'again' &&
            (webhook.reinvocationPolicy !== 'IfNeeded' || sameJson(lastResults.get(webhook), object));
          if (skipped) continue;
          const convertedRequest = await inVersion(hooks, { ...request, object }, resource);
          const response = await review(webhook, convertedRequest, resource, resolve);
          if (response?.patch !== undefined) {
            const next = patched(webhook, convertedRequest.object, response.patch);
            object = await converted(hooks, next, request.target.resource);
          }
          lastResults.set(webhook, object);
        }
      }
      return object;
    },
    async validate(request) {
      const calls = matchingWebhooks(validating, request).map(async ({ webhook, resource }) =>
        review(webhook, await inVersion(hooks, request, resource), resource, resolve),
      );
      await Promise.all(calls);
    },
  };
}

/** Converts the objects of a request to the version that a webhook matches. A Scale has only one version. */
async function inVersion(hooks: Hooks, request: AdmissionRequest, resource: Resource): Promise<AdmissionRequest> {
  const { target, object, oldObject } = request;
  if (resource === target.resource || target.subresource === 'scale') return request;
  return {
    ...request,
    object: object && (await converted(hooks, object, resource)),
    oldObject: oldObject && (await converted(hooks, oldObject, resource)),
  };
}

async function converted(hooks: Hooks, object: AnyObject, resource: Resource): Promise<AnyObject> {
  try {
    return await convert({ hooks }, object, resource, apiVersionOf(resource));
  } catch (error) {
    throw error instanceof Fault ? internal(error.message) : error;
  }
}

function webhooksOf(store: Store, collection: string): readonly Webhook[] {
  return store.list(collection).flatMap(({ object }) => (object['webhooks'] ?? []) as Webhook[]);
}

/** Returns undefined when the webhook is not called, or failed and may be ignored. Throws when it refuses. */
async function review(
  webhook: Webhook,
  request: AdmissionRequest,
  resource: Resource,
  resolve: ServiceResolver,
): Promise<WebhookResponse | undefined> {
  let response: WebhookResponse;
  try {
    if (!conditionsHold(webhook, request, resource)) return undefined;
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw forbidden(request.target.resource, request.target.name, (error as Error).message);
  }
  try {
    response = await callWebhook(webhook, request, resource, resolve);
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw internal(`failed calling webhook "${webhook.name}": ${(error as Error).message}`);
  }
  for (const warning of response.warnings) request.options.warn(warning);
  if (!response.allowed) throw denial(webhook, response);
  return response;
}

function denial(webhook: Webhook, { status = {} }: WebhookResponse): Fault {
  const { code = 0, message = '', reason = '', details } = status;
  const why = message === '' ? reason : message;
  const text = `admission webhook "${webhook.name}" denied the request${why === '' ? ' without explanation' : `: ${why}`}`;
  return new Fault(code < 400 ? 400 : code, reason, text, details);
}

/** Applies the patch of a webhook, which cannot change apiVersion and kind. */
function patched(webhook: Webhook, object: AnyObject | undefined, patch: readonly unknown[]): AnyObject {
  if (object === undefined) {
    const why = 'attempted to modify the object, which is not supported for this operation';
    throw internal(`admission webhook "${webhook.name}" ${why}`);
  }
  try {
    const { apiVersion, kind } = object;
    const result = applyJsonPatch(object, patch) as AnyObject;
    return { ...result, apiVersion, kind };
  } catch (error) {
    throw internal((error as Error).message);
  }
}
