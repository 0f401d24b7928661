// Watches the rollouts of a namespace: how many run at once, and how often each workload was changed.
import { setTimeout as delay } from 'node:timers/promises';
import { defineKind } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { rolloutOf } from '../../src/mesh/index.ts';
import type { Workload } from '../../src/mesh/index.ts';

const KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'].map((kind) =>
  defineKind<Workload>('apps/v1', kind, `${kind.toLowerCase()}s`),
);
const POLL_MS = 100;

export interface Rollouts {
  /** The largest number of rollouts at once. */
  readonly most: number;
  /** How often the spec of each workload has changed, by `kind/name`, without those that have not. */
  readonly changes: Readonly<Record<string, number>>;
}

/** Watches until `during` settles. */
export async function watchRollouts(client: Client, namespace: string, during: Promise<unknown>): Promise<Rollouts> {
  const before = generations(await workloads(client, namespace));
  let [ended, most] = [false, 0];
  const end = (): void => void (ended = true);
  during.then(end, end);
  for (;;) {
    const seen = await workloads(client, namespace);
    most = Math.max(most, seen.filter((each) => rolloutOf(each).state !== 'done').length);
    if (!ended) {
      await delay(POLL_MS);
      continue;
    }
    const after = generations(seen);
    const changes = Object.keys(after)
      .map((name): [string, number] => [name, after[name]! - (before[name] ?? 0)])
      .filter(([, times]) => times > 0);
    return { most, changes: Object.fromEntries(changes) };
  }
}

async function workloads(client: Client, namespace: string): Promise<readonly Workload[]> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind, { namespace })));
  return lists.flatMap(({ items }) => items);
}

/** The generation of a workload changes with its spec. */
function generations(all: readonly Workload[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    all.map(({ kind, metadata }) => [`${kind.toLowerCase()}/${metadata.name}`, metadata.generation ?? 0]),
  );
}
