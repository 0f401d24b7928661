// Runs a scenario with controllers that crash, on its own cluster. Called by crash.test.ts.
import { expect } from 'vitest';
import { keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { RESTARTED_AT, RESTARTED_FOR, UPDATED_AT } from '../../src/mesh/index.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { startCrashing } from '../scenarios/crashing-controllers.ts';
import { DEADLINE_MS, lasting, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { controllersOf, KINDS, scenarios } from './all.ts';
import { INJECTOR, startInjector } from './injector.ts';
import { takeAway } from './leftovers.ts';

/**
 * Plays a scenario with controllers that crash after these numbers of writes, and deletes the mesh in the end. With a reference, every step
 * must reach the same state as the reference.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  writesUntilCrash: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  const endInjection = await startInjector(client);
  try {
    return await perform({
      actions: inProcess(client),
      moves: scenarios.moves(scenario, { ns: namespace }),
      crashing: await startCrashing(
        { client, clock: new MovingClock(), controllers: controllersOf(scenario) },
        writesUntilCrash,
      ),
      snapshot: () => snapshot(client),
      async end() {
        expect(await takeAway(client, DEADLINE_MS)).toEqual([]);
      },
      reference,
    });
  } finally {
    await endInjection();
  }
}

/** Objects that every cluster has, and that differ between clusters. */
const OF_CLUSTER = new Set([INJECTOR, 'kube-root-ca.crt', 'kubernetes']);

/** The state of a cluster, without fields that depend on the time and number of writes. */
async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  return Object.fromEntries(
    lists
      .flatMap(({ items }) => items)
      .filter(({ kind, metadata }) => kind !== 'Pod' && !OF_CLUSTER.has(metadata.name))
      .map((object): [string, unknown] => [
        `${object.apiVersion} ${object.kind} ${keyOf(object.metadata)}`,
        { ...(lasting(withoutRandomFields(object)) as object), restarts: restartsOf(object) },
      ]),
  );
}

/** Annotations that contain a time or the uid of a resource: only their existence is compared. */
const VARYING_ANNOTATIONS = new Set([RESTARTED_AT, RESTARTED_FOR, UPDATED_AT]);

/** Revisions, which are named after a template with such annotations. */
const REVISIONS = new Set(['currentRevision', 'updateRevision']);
/** Higher ports are chosen at random, such as that of the API server, which NetworkPolicies contain. */
const FIRST_RANDOM_PORT = 30_000;

/** An object without fields that differ between clusters: ports, annotations, revisions, the order of conditions. */
function withoutRandomFields(object: AnyObject): unknown {
  return JSON.parse(JSON.stringify(object), (name, value: unknown) => {
    if (VARYING_ANNOTATIONS.has(name)) return 'marked';
    if (name === 'nodePort' || REVISIONS.has(name)) return undefined;
    if (name === 'port' && Number(value) >= FIRST_RANDOM_PORT) return 'chosen';
    if (name === 'message') return String(value).replace(/^ReplicaSet "[^"]*"/, 'ReplicaSet');
    if (name !== 'conditions' || !Array.isArray(value)) return value;
    return (value as { type: string }[]).toSorted((a, b) => (a.type < b.type ? -1 : 1));
  });
}

/** The generation of a workload, which every restart increments. */
function restartsOf({ kind, metadata }: AnyObject): number | undefined {
  return ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind) ? metadata.generation : undefined;
}
