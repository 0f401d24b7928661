// Runs a scenario with controllers that crash, and records the state after each step. Called by the crash tests.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { JITTER_MS } from './crashing-controllers.ts';
import type { CrashingControllers } from './crashing-controllers.ts';
import { poll } from './poll.ts';
import { play } from './runner.ts';
import type { RunOptions } from './runner.ts';
import type { Move } from './scenario.ts';

/** Controllers that crash all the time take long on a busy machine. */
export const DEADLINE_MS = 150_000;
/** The time limit of a test with many runs: the deadline of a step, whose error says what differs, is over before. */
export const TEST_LIMIT_MS = 600_000;

/** Objects by kind and name. */
export type State = Readonly<Record<string, unknown>>;

export interface Run {
  /** The state after each numbered step, and after the final clean-up. */
  readonly states: readonly State[];
  /** How many times the controllers were started. */
  readonly starts: number;
}

interface Performance extends Omit<RunOptions, 'onMove' | 'deadlineMs'> {
  readonly moves: readonly Move[];
  readonly crashing: CrashingControllers;
  readonly snapshot: () => Promise<State>;
  /** Deletes the objects that the controllers manage; resolves when they are gone. */
  readonly end: () => Promise<void>;
  /** A run with the same state after every step. */
  readonly reference: Run | undefined;
}

/** How often, and for how long, the state of a reference must be unchanged before it counts as settled. */
const QUIET_READS = 4;
/** Controllers are also idle while events are delayed, one after the other. */
const QUIET_MS = 150 + 30 * JITTER_MS;
const NOT_QUIET = { reads: 0, since: 0 };
/** The same while something is reconciling: a rollout is quiet until its pods have been ready for long enough. */
const QUIET_RECONCILING_MS = 4_000;

/** Runs a scenario and its clean-up, and stops its controllers. */
export async function perform(performance: Performance): Promise<Run> {
  const { crashing, snapshot, end, reference, ...options } = performance;
  const moves = performance.moves.map(withoutEvents);
  const states: State[] = [];
  const settle = async (): Promise<void> => {
    const expected = reference?.states[states.length];
    let found = await snapshot();
    let quiet = NOT_QUIET;
    const isReached = async (): Promise<boolean> => {
      // A snapshot of a whole mesh is large: none is made while the controllers are at work.
      if (!crashing.idle) {
        quiet = NOT_QUIET;
        return false;
      }
      const before = found;
      const now = Date.now();
      found = await snapshot();
      const isSame = isDeepStrictEqual(found, expected ?? before) && crashing.idle;
      quiet = isSame ? { reads: quiet.reads + 1, since: quiet.since || now } : NOT_QUIET;
      if (expected !== undefined) return isSame;
      return (
        quiet.reads >= QUIET_READS && now - quiet.since >= (isReconciling(found) ? QUIET_RECONCILING_MS : QUIET_MS)
      );
    };
    await poll(isReached, DEADLINE_MS).catch(async () => expect((found = await snapshot())).toEqual(expected));
    states.push(found);
  };
  try {
    const onMove = (move: Move): Promise<void> | undefined => (isEndOfStep(moves, move) ? settle() : undefined);
    await play(moves, { ...options, deadlineMs: DEADLINE_MS, onMove });
    await end();
    await settle();
    return { states, starts: crashing.starts };
  } finally {
    await crashing.stop();
  }
}

/** Whether some object has the condition Reconciling. */
function isReconciling(state: State): boolean {
  return Object.values(state).some((object) => {
    const { status } = object as { status?: { conditions?: readonly { type: string; status: string }[] } };
    return status?.conditions?.some(({ type, status: is }) => type === 'Reconciling' && is === 'True');
  });
}

/** Events are written in the background: those of a crashed process are lost. */
function withoutEvents(move: Move): Move {
  return { ...move, objects: move.objects.filter(({ kind }) => kind !== 'Event') };
}

function isEndOfStep(moves: readonly Move[], move: Move): boolean {
  const next = moves[moves.indexOf(move) + 1];
  return next?.name.slice(0, 2) !== move.name.slice(0, 2);
}

/** Fields that depend on when, how often or by whom an object was written. */
const VOLATILE = new Set([
  'creationTimestamp',
  'generation',
  'lastOccurrence',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastUpdatedTime',
  'managedFields',
  'observedGeneration',
  'resourceVersion',
  'uid',
  'clusterIP',
  'clusterIPs',
  'deployment.kubernetes.io/revision',
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/** An object without volatile fields. */
export function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  // Pods that could not be created: each attempt has another name.
  if (typeof value === 'string') return value.replace(/^pods "[^"]*" is forbidden/, 'pods are forbidden');
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !VOLATILE.has(name));
  // Keeps that an object is being deleted, but not since when.
  return Object.fromEntries(fields.map(([name, each]) => [name, name === 'deletionTimestamp' || lasting(each)]));
}
