// What somebody wants to know a plan of: objects as they are, or what would follow from files and deletions. For the
// commands that plan.
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

export interface Asked {
  /** Objects that are asked about as they are. */
  readonly asked: readonly Ref[];
  readonly intents: readonly Intent[];
  /** The objects of `-f`, as they are written. */
  readonly written: readonly TypedObject[];
}

/** What is asked: about one by NAME, about what is intended, or else about all of the namespace. */
export async function askedFor<T extends KubeObject>(
  name: string | undefined,
  noun: Noun<T>,
  accepted: Accepted,
  options: IntentOptions,
  connection: Connection,
): Promise<Asked> {
  const { client, namespace } = connection;
  const written = intendedObjects(name, noun.kind, accepted, options, namespace);
  const puts = await Promise.all(written.map((each) => applied(connection, each)));
  const going = await Promise.all(
    (options.delete ?? []).map((each) => getByName(client, noun, { name: each, namespace })),
  );
  const intents = [...puts, ...going.map(({ metadata }) => ({ kind: noun.kind, delete: metadata }))];
  if (name !== undefined) {
    return { asked: [(await getByName(client, noun, { name, namespace })).metadata], intents, written };
  }
  if (intents.length > 0) return { asked: [], intents, written };
  const all = await listOfKind(client, noun, { namespace });
  if (all.length === 0 && noun.kind.namespaced) await refuseMissingNamespace(client, namespace);
  return { asked: all.map(({ metadata }) => metadata), intents, written };
}

/** The objects of `-f`, none without. What contradicts itself is refused. */
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

/** An object as the server would store it after `kubectl apply`. Whoever else owns its fields is no obstacle to a plan. */
async function applied({ client }: Connection, { kind, object }: TypedObject): Promise<Intent> {
  const ref = { name: object.metadata.name, ...(kind.namespaced && { namespace: object.metadata.namespace! }) };
  const before = await client.get<KubeObject>(kind, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const { patch, fieldManager } = kubectlApply(object, before);
  const sending = { fieldManager, fieldValidation: 'Strict', dryRun: true } as const;
  const after = await client.patch<KubeObject>(kind, ref, patch, sending).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    if (error.details?.kind !== 'namespaces') throw unknownKind(kind);
    throw failure('NotFound', `namespaces "${ref.namespace}" not found: kubectl create namespace ${ref.namespace}`);
  });
  if (before !== undefined) return { kind, put: after };
  // What a dry run made up is not what will be.
  const { uid: _uid, ...metadata } = after.metadata;
  return { kind, put: { ...after, metadata } };
}
