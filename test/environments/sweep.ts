// One run of a scenario under a controller that is killed on the way, and what came of it. Called by crash.test.ts.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { inProcess } from './hands.ts';
import { DynamicEnv, leftoversInTheEnd } from './leftovers.ts';
import { startPhoenix } from './mortal.ts';
import { poll } from './poll.ts';
import { play } from './runner.ts';
import { readScenario } from './scenario.ts';
import type { Move } from './scenario.ts';
import { KINDS, snapshot, withoutTraces } from './snapshot.ts';
import type { State } from './snapshot.ts';

const DEADLINE_MS = 30_000;

export interface Run {
  /** The state after each numbered step, and after the last environment is deleted. */
  readonly states: readonly State[];
  /** How many controllers it took. */
  readonly lives: number;
}

/**
 * Plays a scenario with a controller of these lives, and deletes the environments in the end. With a reference, every
 * step must reach the state that the reference has there.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  lifetimes: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  const moves = readScenario(scenario, namespace).map(withoutEvents);
  const states: State[] = [];
  const phoenix = await startPhoenix(client, lifetimes);
  const settle = async (): Promise<void> => {
    const wanted = reference?.states[states.length];
    let found = await snapshot(client);
    const isReached = async (): Promise<boolean> => {
      const before = found;
      found = await snapshot(client);
      return isDeepStrictEqual(found, wanted ?? before) && phoenix.idle;
    };
    await poll(isReached, DEADLINE_MS).catch(() => expect(found).toEqual(wanted));
    states.push(found);
  };
  try {
    await play(moves, {
      hands: inProcess(client),
      deadlineMs: DEADLINE_MS,
      onMove: (move) => (isEndOfStep(moves, move) ? settle() : undefined),
    });
    const { items } = await client.list(DynamicEnv);
    for (const { metadata } of items) await client.delete(DynamicEnv, metadata);
    expect(await leftoversInTheEnd(client, () => true)).toEqual([]);
    await settle();
    return { states, lives: phoenix.lives };
  } finally {
    await phoenix.stop();
  }
}

/** Events are written beside the work: those of a process that ends are lost. */
function withoutEvents(move: Move): Move {
  return { ...move, objects: move.objects.filter(({ kind }) => kind !== 'Event') };
}

function isEndOfStep(moves: readonly Move[], move: Move): boolean {
  const next = moves[moves.indexOf(move) + 1];
  return next?.name.slice(0, 2) !== move.name.slice(0, 2);
}

/** The state that the moves of a scenario lead to when all that is about environments is left out. */
export async function runWithoutEnvironments(client: Client, scenario: string, namespace: string): Promise<State> {
  const isOthers = ({ kind, metadata }: AnyObject): boolean =>
    kind !== 'DynamicEnv' && !metadata.name.includes(`-${namespace}-`);
  const moves = readScenario(scenario, namespace)
    .filter(({ does }) => ['apply', 'patch', 'delete'].includes(does))
    .map((move) => ({ ...move, objects: move.objects.filter(isOthers) }));
  await play(moves, { hands: inProcess(client) });
  let found: State = {};
  await poll(async () => {
    const before = found;
    found = withoutTraces(await snapshot(client));
    return isDeepStrictEqual(before, found) && !JSON.stringify(found).includes('ReplicaSetUpdated');
  }, DEADLINE_MS);
  return found;
}

/** Deletes everything that a run left in the namespace, so that the next one finds it empty. */
export async function clear(client: Client, namespace: string): Promise<void> {
  for (const kind of KINDS) {
    const { items } = await client.list(kind, { namespace });
    for (const { metadata } of items) await client.delete(kind, metadata);
  }
  await poll(async () => Object.keys(await snapshot(client)).length === 0, DEADLINE_MS);
}
