// What to plan: existing objects, or the changes of files and deletions. For the plan commands.
import type { Intent } from '../../controller/index.ts';
import { isNotFound } from '../../kube/errors.ts';
import { identityOf, keyOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/objects.ts';
import { failure, invalidFlag } from '../exit.ts';
import { getByName, listOfKind, unknownKind } from '../objects/find.ts';
import type { Noun } from '../objects/find.ts';
import { refuseMissingNamespace } from '../objects/namespace.ts';
import type { ClusterOptions, Connection } from '../options.ts';
import { checkedObjects } from './checked.ts';
import type { Accepted, TypedObject } from './checked.ts';
import { kubectlApply } from './kubectl-apply.ts';

export interface IntentOptions extends ClusterOptions {
  readonly filename?: readonly string[];
  readonly delete?: readonly string[];
}

export interface PlanInput {
  /** Existing objects to plan. */
  readonly existing: readonly Ref[];
  readonly intents: readonly Intent[];
  /** The objects of `-f`, as written. */
  readonly written: readonly TypedObject[];
}

/** What to plan: one object by NAME, the intended changes, or all objects of the namespace. */
export async function planInput<T extends KubeObject>(
  name: string | undefined,
  noun: Noun<T>,
  accepted: Accepted,
  options: IntentOptions,
  connection: Connection,
): Promise<PlanInput> {
  const { client, namespace } = connection;
  const written = intendedObjects(name, noun.kind, accepted, options, namespace);
  const puts = await Promise.all(written.map((each) => applied(connection, each)));
  const deletions = await Promise.all(
    (options.delete ?? []).map((each) => getByName(client, noun, { name: each, namespace })),
  );
  const intents = [...puts, ...deletions.map(({ metadata }) => ({ kind: noun.kind, delete: metadata }))];
  if (name !== undefined) {
    return { existing: [(await getByName(client, noun, { name, namespace })).metadata], intents, written };
  }
  if (intents.length > 0) return { existing: [], intents, written };
  const all = await listOfKind(client, noun, { namespace });
  if (all.length === 0 && noun.kind.namespaced) await refuseMissingNamespace(client, namespace);
  return { existing: all.map(({ metadata }) => metadata), intents, written };
}

/** The objects of `-f`, if given. Contradictory arguments are rejected. */
export function intendedObjects(
  name: string | undefined,
  kind: AnyKind,
  accepted: Accepted,
  { filename, delete: deleted = [], ...options }: IntentOptions,
  namespace: string,
): readonly TypedObject[] {
  if (name !== undefined && filename !== undefined) {
    throw invalidFlag('NAME', name, 'with -f, names come from the files; omit it');
  }
  if (name !== undefined && deleted.includes(name)) {
    throw invalidFlag('NAME', name, 'what --delete names is asked about anyway; leave it out');
  }
  const written = filename === undefined ? [] : checkedObjects(filename, options, namespace, accepted);
  const seen = new Set<string>();
  for (const each of written) {
    const id = identityOf(each.kind, each.object.metadata);
    const title = `${each.kind.kind} ${keyOf(each.object.metadata)}`;
    if (seen.has(id)) throw failure('InvalidFile', `-f: ${title} is there twice: leave one out`);
    seen.add(id);
  }
  const both = deleted.find((each) =>
    seen.has(identityOf(kind, { name: each, ...(kind.namespaced && { namespace }) })),
  );
  if (both !== undefined) throw invalidFlag('--delete', both, 'it is among the objects of -f too; leave one out');
  return written;
}

/** An object as the server would store it after `kubectl apply`. Field conflicts do not fail a plan. */
async function applied({ client }: Connection, { kind, object }: TypedObject): Promise<Intent> {
  const ref = { name: object.metadata.name, ...(kind.namespaced && { namespace: object.metadata.namespace! }) };
  const before = await client.get<KubeObject>(kind, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const { patch, fieldManager } = kubectlApply(object, before);
  const patchOptions = { fieldManager, fieldValidation: 'Strict', dryRun: true } as const;
  const after = await client.patch<KubeObject>(kind, ref, patch, patchOptions).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    if (error.details?.kind !== 'namespaces') throw unknownKind(kind);
    throw failure('NotFound', `namespaces "${ref.namespace}" not found: kubectl create namespace ${ref.namespace}`);
  });
  if (before !== undefined) return { kind, put: after };
  // The uid of a dry run is not the final one.
  const { uid: _uid, ...metadata } = after.metadata;
  return { kind, put: { ...after, metadata } };
}
