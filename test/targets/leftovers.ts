// Finds what claims left behind. Empty after their deletion.
import { Space } from '../../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
import { isNotFound, keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import type { History } from '../scenarios/history.ts';
import { poll } from '../scenarios/poll.ts';
import { OURS } from './all.ts';

/** The garbage collector of a real cluster takes up to half a minute for a new kind. */
const DEADLINE_MS = 60_000;

/** Deletes the environments, claims and targets of a namespace, in this order. */
export async function takeAway(client: Client, namespace: string): Promise<void> {
  for (const kind of [Environment, DeploymentTargetClaim, DeploymentTarget] as unknown as Kind[]) {
    const { items } = await client.list(kind, { namespace });
    for (const { metadata } of items) await deleteIfFound(client, kind, metadata);
    await poll(async () => (await client.list(kind, { namespace })).items.length === 0, DEADLINE_MS).catch(() => {});
  }
  const { items: classes } = await client.list(DeploymentTargetClass);
  for (const { metadata } of classes) {
    if (metadata.name.endsWith(`-${namespace}`))
      await deleteIfFound(client, DeploymentTargetClass as unknown as Kind, metadata);
  }
}

async function deleteIfFound(client: Client, kind: Kind, ref: { name: string; namespace?: string }): Promise<void> {
  await client.delete(kind, ref).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** What is left of claims of a namespace after a deadline, without the objects that the test created. */
export async function leftoversInTheEnd(
  client: Client,
  namespace: string,
  history: History,
  brought: readonly AnyObject[],
): Promise<readonly string[]> {
  let left: readonly string[] = [];
  const nothingIsLeft = async (): Promise<boolean> => {
    left = await leftovers(client, namespace, history, brought);
    return left.length === 0;
  };
  await poll(nothingIsLeft, DEADLINE_MS).catch(() => undefined);
  return left;
}

async function leftovers(
  client: Client,
  namespace: string,
  history: History,
  brought: readonly AnyObject[],
): Promise<readonly string[]> {
  const show = ({ kind, metadata }: AnyObject): string => `${kind} ${keyOf(metadata)}`;
  const theirs = new Set(brought.map(show));
  const listed = OURS.filter((kind) => kind.kind !== 'Space').map((kind) => client.list(kind, { namespace }));
  const inside = (await Promise.all(listed)).flatMap(({ items }) => items);
  const spaces = (await client.list(Space)).items.filter(
    ({ metadata }) => metadata.labels?.['toolchain.dev.openshift.com/spacerequest-namespace'] === namespace,
  );
  const made = targetNamespacesOf(history, namespace);
  const targetNamespaces = (await client.list(Namespace)).items.filter(
    ({ metadata }) =>
      made.has(metadata.name) || metadata.annotations?.['offshoot.dev/target']?.startsWith(`${namespace}/`),
  );
  return [...inside, ...(spaces as unknown as AnyObject[]), ...(targetNamespaces as unknown as AnyObject[])]
    .map(show)
    .filter((each) => !theirs.has(each));
}

/** The namespaces behind all targets that a namespace ever had. */
function targetNamespacesOf(history: History, namespace: string): ReadonlySet<string> {
  const targets = history.versions
    .map(({ object }) => object as unknown as DeploymentTarget)
    .filter(({ kind, metadata }) => kind === 'DeploymentTarget' && metadata.namespace === namespace);
  return new Set(targets.map(({ spec }) => spec.kubernetesCredentials.defaultNamespace));
}
