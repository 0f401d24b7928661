// Checks whether a namespace exists if nothing is found in it: a typo must not look like an empty namespace.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import type { CommandFailed } from '../exit.ts';
import { closestNames } from './closest-names.ts';
import { listAll } from './follow.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const MAX_SHOWN = 8;

/** Fails if the namespace does not exist; passes if the user may not read namespaces. */
export async function refuseMissingNamespace(client: Client, namespace: string): Promise<void> {
  try {
    await client.get(Namespace, { name: namespace });
  } catch (error) {
    if (isForbidden(error)) return;
    if (!isNotFound(error)) throw error;
    throw missing(`there is no namespace ${namespace}`, namespace, await namesOf(client));
  }
}

/** Fails if all objects of manifests are in other namespaces. */
export function refuseEmptyNamespace(objects: readonly KubeObject[], namespace: string): void {
  const all = new Set(
    objects.map(({ kind, metadata }) => (kind === 'Namespace' ? metadata.name : metadata.namespace!)),
  );
  if (all.has(namespace)) return;
  throw missing(`--world has nothing in namespace ${namespace}`, namespace, [...all].toSorted());
}

async function namesOf(client: Client): Promise<readonly string[]> {
  try {
    return (await listAll(client, Namespace, {})).map(({ metadata }) => metadata.name);
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

function missing(message: string, namespace: string, others: readonly string[]): CommandFailed {
  const close = closestNames(namespace, others);
  const more = others.length > MAX_SHOWN ? ` and ${others.length - MAX_SHOWN} more` : '';
  const there = `${others.length === 1 ? 'there is' : 'there are'} ${others.slice(0, MAX_SHOWN).join(', ')}${more}`;
  const hint = close.length > 0 ? `; did you mean ${close.join(' or ')}?` : others.length > 0 ? `; ${there}` : '';
  return failure('NotFound', `${message}${hint}`);
}
