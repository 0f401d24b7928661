// What a controller wants changed, as data, and the one function that does it: through the same verbs as requests from
// outside, so that defaults, validation, admission, generations and field owners are those of any other write.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';
import type { Cluster, Target, UserInfo, WriteOptions } from '../rest/context.ts';
import { create } from '../rest/create.ts';
import { remove } from '../rest/delete.ts';
import type { DeleteOptions } from '../rest/delete.ts';
import { replace } from '../rest/update.ts';
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
  | { readonly verb: 'create'; readonly object: NewObject; readonly note?: PlannedEvent }
  /** Replaces the object, or what its subresource covers, if it is still at the version that it carries. */
  | {
      readonly verb: 'update';
      readonly object: KubeObject;
      readonly subresource?: string;
      readonly note?: PlannedEvent;
    }
  | {
      readonly verb: 'delete';
      readonly object: KubeObject;
      readonly options?: DeleteOptions;
      readonly note?: PlannedEvent;
    };

/** What a controller wants now, and when to look again although nothing has changed. */
export interface Plan {
  readonly writes: readonly Write[];
  readonly againInMs?: number;
}

export const nothing: Plan = { writes: [] };

export function createOf(object: NewObject, note?: PlannedEvent): Write {
  return { verb: 'create', object, ...(note !== undefined && { note }) };
}

export function updateOf(object: KubeObject, note?: PlannedEvent): Write {
  return { verb: 'update', object, ...(note !== undefined && { note }) };
}

/** The object with its status replaced by this one. */
export function statusOf(object: KubeObject, status: object): Write {
  return { verb: 'update', object: { ...object, status } as KubeObject, subresource: 'status' };
}

export function deleteOf(object: KubeObject, options: DeleteOptions = {}, note?: PlannedEvent): Write {
  return { verb: 'delete', object, options, ...(note !== undefined && { note }) };
}

/** Who writes: the user that admission sees, and the owner of the written fields. */
export interface Writer {
  readonly user: UserInfo;
  readonly manager: string;
  /** The source of its Events. */
  readonly component: string;
}

/** The writer that a controller of the controller manager is. */
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

/** Writes that happen in one turn of the event loop, in memory: requests get their share after so many. */
const atOnce = 100;

/** Carries the writes out in order; neighbours that create or delete run together. Rejects with the first refusal. */
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
    if (verb !== 'update') while (writes[end]?.verb === verb && end - start < atOnce) end++;
    const results = await Promise.allSettled(
      writes.slice(start, end).map((write) => performOne(cluster, write, options, writer.component)),
    );
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    if (end - start === atOnce) await nextTurn();
    start = end;
  }
}

async function performOne(cluster: Cluster, write: Write, options: WriteOptions, component: string): Promise<void> {
  const written = await performVerb(cluster, write, options);
  if (write.note === undefined) return;
  const event = eventOf(write.note, written.metadata.name, component, Date.now());
  // A story that cannot be told is no reason to stop working.
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
