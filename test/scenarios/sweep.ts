// One run of a scenario under controllers that are killed on the way, and what came of it. Called by the crash tests.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { Phoenix } from './mortal.ts';
import { poll } from './poll.ts';
import { play } from './runner.ts';
import type { RunOptions } from './runner.ts';
import type { Move } from './scenario.ts';

export const DEADLINE_MS = 60_000;

/** Objects by kind and name. */
export type State = Readonly<Record<string, unknown>>;

export interface Run {
  /** The state after each numbered step, and after everything is taken away again. */
  readonly states: readonly State[];
  /** How many processes it took. */
  readonly lives: number;
}

interface Performance extends Omit<RunOptions, 'onMove' | 'deadlineMs'> {
  readonly moves: readonly Move[];
  readonly phoenix: Phoenix;
  readonly snapshot: () => Promise<State>;
  /** Takes away what the controllers manage; resolves when nothing is left of it. */
  readonly end: () => Promise<void>;
  /** A run that this one must be like: after every step the same state. */
  readonly reference: Run | undefined;
}

/** So often the state of a reference must be the same before it counts as the last one. */
const QUIET_LOOKS = 4;
/** The same while something is under way: a rollout is quiet until its pods have been ready for long enough. */
const QUIET_LOOKS_UNDER_WAY = 100;

/** Plays a scenario to its end and beyond, and stops its controllers. */
export async function perform(performance: Performance): Promise<Run> {
  const { phoenix, snapshot, end, reference, ...options } = performance;
  const moves = performance.moves.map(withoutEvents);
  const states: State[] = [];
  const settle = async (): Promise<void> => {
    const wanted = reference?.states[states.length];
    let found = await snapshot();
    let quiet = 0;
    const isReached = async (): Promise<boolean> => {
      const before = found;
      found = await snapshot();
      const isSame = isDeepStrictEqual(found, wanted ?? before) && phoenix.idle;
      quiet = isSame ? quiet + 1 : 0;
      if (wanted !== undefined) return quiet >= 1;
      return quiet >= (isUnderWay(found) ? QUIET_LOOKS_UNDER_WAY : QUIET_LOOKS);
    };
    await poll(isReached, DEADLINE_MS).catch(() => expect(found).toEqual(wanted));
    states.push(found);
  };
  try {
    const onMove = (move: Move): Promise<void> | undefined => (isEndOfStep(moves, move) ? settle() : undefined);
    await play(moves, { ...options, deadlineMs: DEADLINE_MS, onMove });
    await end();
    await settle();
    return { states, lives: phoenix.lives };
  } finally {
    await phoenix.stop();
  }
}

/** Whether some object tells that it is not where it should be yet. */
function isUnderWay(state: State): boolean {
  return Object.values(state).some((object) => {
    const { status } = object as { status?: { conditions?: readonly { type: string; status: string }[] } };
    return status?.conditions?.some(({ type, status: is }) => type === 'Reconciling' && is === 'True');
  });
}

/** Events are written beside the work: those of a process that ends are lost. */
function withoutEvents(move: Move): Move {
  return { ...move, objects: move.objects.filter(({ kind }) => kind !== 'Event') };
}

function isEndOfStep(moves: readonly Move[], move: Move): boolean {
  const next = moves[moves.indexOf(move) + 1];
  return next?.name.slice(0, 2) !== move.name.slice(0, 2);
}

/** Fields that say when, how often or by whom, in metadata and in every status. */
const BY_CHANCE = new Set([
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

/** An object without what depends on when and how often somebody wrote. */
export function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting);
  // Names of pods that could not be made: each try has another one.
  if (typeof value === 'string') return value.replace(/^pods "[^"]*" is forbidden/, 'pods are forbidden');
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !BY_CHANCE.has(name));
  // That something is going counts, since when does not.
  return Object.fromEntries(fields.map(([name, each]) => [name, name === 'deletionTimestamp' || lasting(each)]));
}
