// One run of a scenario under controllers that are killed on the way, on a cluster that is used for nothing else.
// Called by crash.test.ts.
import { expect } from 'vitest';
import { keyOf } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { RESTARTED_AT, RESTARTED_FOR, UPDATED_AT } from '../../src/mesh/index.ts';
import { inProcess } from '../scenarios/hands.ts';
import { startPhoenix } from '../scenarios/mortal.ts';
import { lasting, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { controllersOf, KINDS, scenarios } from './all.ts';
import { INJECTOR, startInjector } from './injector.ts';
import { takeAway } from './leftovers.ts';

/**
 * Plays a scenario with controllers of these lives, and takes the mesh away in the end. With a reference, every step
 * must reach the state that the reference has there.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  lifetimes: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  const endInjection = await startInjector(client);
  try {
    return await perform({
      hands: inProcess(client),
      moves: scenarios.moves(scenario, { ns: namespace }),
      phoenix: await startPhoenix(
        { client, clock: new MovingClock(), controllers: controllersOf(scenario) },
        lifetimes,
      ),
      snapshot: () => snapshot(client),
      async end() {
        expect(await takeAway(client)).toEqual([]);
      },
      reference,
    });
  } finally {
    await endInjection();
  }
}

/** What every cluster has, and looks different on each. */
const OF_CLUSTER = new Set([INJECTOR, 'kube-root-ca.crt', 'kubernetes']);

/** The state of a cluster without what depends on when and how often somebody wrote. */
async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  return Object.fromEntries(
    lists
      .flatMap(({ items }) => items)
      .filter(({ kind, metadata }) => kind !== 'Pod' && !OF_CLUSTER.has(metadata.name))
      .map((object): [string, unknown] => [
        `${object.apiVersion} ${object.kind} ${keyOf(object.metadata)}`,
        { ...(lasting(withoutChance(object)) as object), restarts: restartsOf(object) },
      ]),
  );
}

/** Marks that have a time or the uid of a resource in them: that they are there is not by chance. */
const MARKS = new Set([RESTARTED_AT, RESTARTED_FOR, UPDATED_AT]);

/** Named after a template that has marks in it. */
const REVISIONS = new Set(['currentRevision', 'updateRevision']);
/** Ports from here on are chosen by the machine: among them the one of the API server, which policies name. */
const FIRST_CHOSEN_PORT = 30_000;

/** An object without what differs between two clusters: ports, marks, what is named after them, the order of conditions. */
function withoutChance(object: AnyObject): unknown {
  return JSON.parse(JSON.stringify(object), (name, value: unknown) => {
    if (MARKS.has(name)) return 'marked';
    if (name === 'nodePort' || REVISIONS.has(name)) return undefined;
    if (name === 'port' && Number(value) >= FIRST_CHOSEN_PORT) return 'chosen';
    if (name === 'message') return String(value).replace(/^ReplicaSet "[^"]*"/, 'ReplicaSet');
    if (name !== 'conditions' || !Array.isArray(value)) return value;
    return (value as { type: string }[]).toSorted((a, b) => (a.type < b.type ? -1 : 1));
  });
}

/** A workload that was restarted once more has another generation. */
function restartsOf({ kind, metadata }: AnyObject): number | undefined {
  return ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind) ? metadata.generation : undefined;
}
