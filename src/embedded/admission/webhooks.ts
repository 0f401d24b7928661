// Admission webhooks: the mutating ones in turn, then the validating ones together. Called by every write.
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
import type { WebhookAnswer } from './call.ts';
import { conditionsHold } from './conditions.ts';
import { matchingResource } from './match.ts';
import type { Webhook } from './match.ts';

const group = 'admissionregistration.k8s.io';
const mutating = `mutatingwebhookconfigurations.${group}`;
const validating = `validatingwebhookconfigurations.${group}`;

/** The admission of a cluster: what its webhook configurations say. */
export function webhookAdmission(store: Store, registry: Registry, hooks: Hooks): Reviews {
  const resolve = hooks.resolveService ?? (() => undefined);
  const selected = (collection: string, request: AdmissionRequest): { webhook: Webhook; resource: Resource }[] => {
    // A webhook must never stand in the way of repairing the webhooks.
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
      const chosen = selected(mutating, request);
      let { object } = request;
      /** What the object was when each webhook had last seen it. */
      const seen = new Map<Webhook, AnyObject | undefined>();
      for (const round of ['first', 'again']) {
        for (const { webhook, resource } of chosen) {
          const unchanged =
            round === 'again' && (webhook.reinvocationPolicy !== 'IfNeeded' || sameJson(seen.get(webhook), object));
          if (unchanged) continue;
          const seenAs = await inVersion(hooks, { ...request, object }, resource);
          const answer = await ask(webhook, seenAs, resource, resolve);
          if (answer?.patch !== undefined) {
            const next = patched(webhook, seenAs.object, answer.patch);
            object = await converted(hooks, next, request.target.resource);
          }
          seen.set(webhook, object);
        }
      }
      return object;
    },
    async validate(request) {
      const calls = selected(validating, request).map(async ({ webhook, resource }) =>
        ask(webhook, await inVersion(hooks, request, resource), resource, resolve),
      );
      await Promise.all(calls);
    },
  };
}

/** A write as a webhook sees it that wants to hear of another version. A Scale is the same in all. */
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

/** The answer of a webhook that allows the write; undefined when it is not asked, or failed and may be ignored. Throws when it refuses. */
async function ask(
  webhook: Webhook,
  request: AdmissionRequest,
  resource: Resource,
  resolve: ServiceResolver,
): Promise<WebhookAnswer | undefined> {
  let answer: WebhookAnswer;
  try {
    if (!conditionsHold(webhook, request, resource)) return undefined;
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw forbidden(request.target.resource, request.target.name, (error as Error).message);
  }
  try {
    answer = await callWebhook(webhook, request, resource, resolve);
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return undefined;
    throw internal(`failed calling webhook "${webhook.name}": ${(error as Error).message}`);
  }
  for (const warning of answer.warnings) request.options.warn(warning);
  if (!answer.allowed) throw denial(webhook, answer);
  return answer;
}

function denial(webhook: Webhook, { status = {} }: WebhookAnswer): Fault {
  const { code = 0, message = '', reason = '', details } = status;
  const why = message === '' ? reason : message;
  const text = `admission webhook "${webhook.name}" denied the request${why === '' ? ' without explanation' : `: ${why}`}`;
  return new Fault(code < 400 ? 400 : code, reason, text, details);
}

/** The object after a webhook's patch; identity and kind are not the webhook's to change. */
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
