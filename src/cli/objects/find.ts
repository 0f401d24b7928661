// Finds objects by name, with suggestions if one does not exist. Called by every command that takes a NAME.
import type { Client, Selection } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { AnyKind, Kind, KubeObject } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import { listAll } from './follow.ts';
import { closestNames } from './closest-names.ts';
import { refuseMissingNamespace } from './namespace.ts';

/** A kind with its names in messages. */
export interface Noun<T extends KubeObject> {
  readonly kind: Kind<T>;
  readonly one: string;
  readonly many: string;
  /** The command that lists all objects. */
  readonly list: string;
}

export interface NamespacedName {
  readonly name: string;
  readonly namespace: string;
}

/** The object; fails with a hint if it does not exist. */
export async function getByName<T extends KubeObject>(client: Client, noun: Noun<T>, ref: NamespacedName): Promise<T> {
  const found = await findByName(client, noun, ref);
  if (found !== undefined) return found;
  const others = await listOfKind(client, noun, { namespace: ref.namespace });
  if (others.length === 0 && noun.kind.namespaced) await refuseMissingNamespace(client, ref.namespace);
  throw failure(
    'NotFound',
    `there is no ${noun.one} ${ref.name} in namespace ${ref.namespace}; ${suggestionFor(noun, ref.name, others)}`,
  );
}

/** Suggests similar names, or the list command. */
export function suggestionFor<T extends KubeObject>(noun: Noun<T>, name: string, others: readonly T[]): string {
  const close = closestNames(
    name,
    others.map(({ metadata }) => metadata.name),
  );
  return close.length > 0 ? `did you mean ${close.join(' or ')}?` : `"${noun.list}" lists all of them`;
}

/** The object, or undefined. Fails if the kind is not installed. */
export async function findByName<T extends KubeObject>(
  client: Client,
  { kind }: Noun<T>,
  ref: NamespacedName,
): Promise<T | undefined> {
  try {
    return await client.get(kind, ref);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // The error for an unknown kind has no details of an object.
    if (error.details?.name === ref.name) return undefined;
    throw unknownKind(kind);
  }
}

/** The objects of a selection. Fails if the kind is not installed. */
export async function listOfKind<T extends KubeObject>(
  client: Client,
  { kind }: Noun<T>,
  selection: Selection,
): Promise<readonly T[]> {
  try {
    return await listAll(client, kind, selection);
  } catch (error) {
    throw isNotFound(error) ? unknownKind(kind) : error;
  }
}

/** The error if a kind is not installed. */
export function unknownKind({ kind }: AnyKind): CommandFailed {
  return failure(
    'NotInstalled',
    `this cluster does not know ${kind}: install it with "offshoot crds | kubectl apply -f -"`,
  );
}
