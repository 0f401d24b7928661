// The planned writes of a controller, and the function that performs them: through the same verbs as API requests, so
// that defaults, validation, admission, generations and field managers are the same.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';
import type { Cluster, Target, UserInfo, WriteOptions } from '../rest/context.ts';
import { create } from '../rest/verbs/create.ts';
import { remove } from '../rest/verbs/delete.ts';
import type { DeleteOptions } from '../rest/verbs/delete.ts';
import { replace } from '../rest/verbs/update.ts';
import { eventOf } from './planned-events.ts';
import type { PlannedEvent } from './planned-events.ts';

/** An object that does not exist yet. */
export interface NewObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<ObjectMeta>;
  readonly [field: string]: unknown;
}

export type Write =
  | { readonly verb: 'create'; readonly object: NewObject; readonly event?: PlannedEvent }
  /** Replaces the object or its subresource; fails with a conflict if its resourceVersion is outdated. */
  | {
      readonly verb: 'update';
      readonly object: KubeObject;
      readonly subresource?: string;
      readonly event?: PlannedEvent;
    }
  | {
      readonly verb: 'delete';
      readonly object: KubeObject;
      readonly options?: DeleteOptions;
      readonly event?: PlannedEvent;
    };

/** What a controller writes, and when to requeue the key without an event. */
export interface Plan {
  readonly writes: readonly Write[];
  readonly requeueAfterMs?: number;
}

export const nothing: Plan = { writes: [] };

export function createOf(object: NewObject, event?: PlannedEvent): Write {
  return { verb: 'create', object, ...(event !== undefined && { event }) };
}

export function updateOf(object: KubeObject, event?: PlannedEvent): Write {
  return { verb: 'update', object, ...(event !== undefined && { event }) };
}

/** Replaces the status of an object. */
export function statusOf(object: KubeObject, status: object): Write {
  return { verb: 'update', object: { ...object, status } as KubeObject, subresource: 'status' };
}

export function deleteOf(object: KubeObject, options: DeleteOptions = {}, event?: PlannedEvent): Write {
  return { verb: 'delete', object, options, ...(event !== undefined && { event }) };
}

/** The user for admission, and the field manager. */
export interface Writer {
  readonly user: UserInfo;
  readonly manager: string;
  /** The source component of its Events. */
  readonly component: string;
}

/** The identity of a controller in kube-controller-manager. */
export function controllerManager(name: string, component = name): Writer {
  return {
    user: {
      username: `system:serviceaccount:kube-system:${name}`,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
    },
    manager: 'kube-controller-manager',
    component,
  };
}

/** How many writes happen before the event loop serves other requests. */
const batchSize = 100;

/** Performs the writes in order; consecutive creations or deletions run in parallel. Rejects with the first refusal. */
export async function perform(cluster: Cluster, writes: readonly Write[], writer: Writer): Promise<void> {
  const options: WriteOptions = {
    user: writer.user,
    dryRun: false,
    fieldManager: writer.manager,
    fieldValidation: 'Ignore',
    warn: () => undefined,
  };
  for (let start = 0; start < writes.length;) {
    const { verb } = writes[start]!;
    let end = start + 1;
    if (verb !== 'update') while (writes[end]?.verb === verb && end - start < batchSize) end++;
    const results = await Promise.allSettled(
      writes.slice(start, end).map((write) => performOne(cluster, write, options, writer.component)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if (end - start === batchSize) await nextTurn();
    start = end;
  }
}

async function performOne(cluster: Cluster, write: Write, options: WriteOptions, component: string): Promise<void> {
  const written = await performVerb(cluster, write, options);
  if (write.event === undefined) return;
  const event = eventOf(write.event, written.metadata.name, component, Date.now());
  // Recording Events is best effort.
  await performVerb(cluster, createOf(event), options).catch(() => undefined);
}

async function performVerb(cluster: Cluster, write: Write, options: WriteOptions): Promise<KubeObject> {
  const { object } = write;
  const slash = object.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : object.apiVersion.slice(0, slash);
  const resource = cluster.registry.findKind(group, object.apiVersion.slice(slash + 1), object.kind);
  if (resource === undefined) throw new Error(`${object.apiVersion} ${object.kind} is not served`);
  const { name = '', namespace = '', uid } = object.metadata;
  const target: Target = { resource, namespace, name, subresource: '' };
  if (write.verb === 'create') return (await create(cluster, { ...target, name: '' }, object, options)).stored.object;
  if (write.verb === 'delete') {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    return (await remove(cluster, target, { ...preconditions, ...write.options }, options)).stored.object;
  }
  return (await replace(cluster, { ...target, subresource: write.subresource ?? '' }, object, options)).stored.object;
}
