// Removes an installation, in the reverse order of installing.
import { Lease } from '../../kube/lease.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { apiVersionOf, defineKind, keyOf } from '../../kube/objects.ts';
import type { AnyObject, Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import { followUntil, listAll } from '../objects/follow.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { leaseNames } from '../run/definitions.ts';
import { nameText } from '../terminal/output.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';
import { partData } from './chart-data.ts';
import {
  Definition,
  Deployment,
  KINDS,
  Namespace,
  orNone,
  oursOf,
  refuseOtherInstallation,
  Registration,
  selectorText,
} from './installed.ts';

export interface UninstallOptions extends ClusterOptions {
  readonly namespace: string;
  readonly deleteResources: boolean;
  readonly keepResources: boolean;
  readonly timeout: number;
}

const Pod = defineKind('v1', 'Pod', 'pods');
const Secret = defineKind('v1', 'Secret', 'secrets');

/** Kinds that users create; they are deleted before the kinds that they depend on. */
const FIRST = new Set(['DynamicEnv', 'DeploymentTargetClaim', 'Environment', 'RoutingRule', 'Istio']);

export async function uninstall(options: UninstallOptions): Promise<void> {
  const { namespace, keepResources, timeout } = options;
  await withConnection(options, async ({ client }) => {
    await refuseOtherInstallation(client, namespace);
    if (!keepResources) await handleResources(client, options);
    // Delete the webhook registrations before the pods that serve them, so that no request is rejected.
    await removeAll(client, [Registration, Deployment]);
    await untilNone(client, Pod, { namespace, labelSelector: selectorText() }, timeout);
    await removeAll(client, KINDS);
    await remove(client, Secret, { namespace, name: 'offshoot-webhook-tls' });
    for (const name of leaseNames) await remove(client, Lease, { namespace, name });
    if (!keepResources) await removeAll(client, [Definition], timeout);
    await removeAll(client, [Namespace], timeout);
  });
}

/** Throws if there are objects of our kinds, or deletes them with --delete-resources. */
async function handleResources(client: Client, { deleteResources, timeout }: UninstallOptions): Promise<void> {
  const kinds = partData.flatMap(({ definitions }) => definitions.map(kindOfDefinition));
  const found: { readonly kind: Kind; readonly objects: readonly AnyObject[] }[] = [];
  for (const kind of kinds) found.push({ kind, objects: await orNone(listAll(client, kind)) });
  const there = found.filter(({ objects }) => objects.length > 0);
  if (there.length > 0 && !deleteResources) {
    const lines = there.map(({ kind, objects }) => {
      const names = objects.slice(0, 3).map(({ metadata }) => keyOf(metadata));
      return `${objects.length} ${kind.kind}: ${names.join(', ')}${objects.length > 3 ? ', …' : ''}`;
    });
    const advice =
      'delete them, or say --delete-resources (delete all of them, with what they made) or --keep-resources (keep them, without any controller)';
    throw failure('InUse', [`there are objects that the controllers manage`, ...lines, advice].join('\n  '));
  }
  for (const isFirst of [true, false]) {
    const stage = there.filter(({ kind }) => FIRST.has(kind.kind) === isFirst);
    for (const { kind, objects } of stage) for (const object of objects) await remove(client, kind, object.metadata);
    for (const { kind } of stage) await untilNone(client, kind, {}, timeout);
  }
}

function kindOfDefinition({ spec }: AnyObject): Kind {
  const { group, names, scope, versions } = spec as {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly scope: string;
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
  };
  const version = versions.find(({ storage }) => storage)!.name;
  return defineKind(`${group}/${version}`, names.kind, names.plural, { namespaced: scope === 'Namespaced' });
}

/** Deletes our objects of these kinds; with a timeout, waits until they are gone. */
async function removeAll(client: Client, kinds: readonly Kind[], timeoutMs?: number): Promise<void> {
  for (const kind of kinds) {
    const objects = await oursOf(client, kind);
    for (const { metadata } of objects) await remove(client, kind, metadata);
    if (timeoutMs === undefined) continue;
    for (const { metadata } of objects)
      await untilNone(client, kind, { fieldSelector: `metadata.name=${metadata.name}` }, timeoutMs);
  }
}

async function remove<T extends KubeObject>(client: Client, kind: Kind<T>, { name, namespace }: Ref): Promise<void> {
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  try {
    await client.delete(kind, ref, { propagationPolicy: 'Background' });
    console.log(`${nameText({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: ref })} deleted`);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function untilNone(
  client: Client,
  kind: Kind,
  selection: { namespace?: string; labelSelector?: string; fieldSelector?: string },
  timeoutMs: number,
): Promise<void> {
  let left: readonly string[] = [];
  const gone = await withProgress(timeoutMs, (signal) =>
    followUntil(client, kind, selection, signal, (table) => {
      left = table.list().map(({ metadata }) => `${kind.kind} ${keyOf(metadata)} is still there`);
      return left.length === 0 ? true : undefined;
    }),
  );
  if (gone) return;
  throw failure('TimedOut', [`not gone after ${durationText(timeoutMs)}`, ...left].join('\n  '));
}
