// Runs a scenario: one move after the other, each with a deadline. Called by the test suites and by run.ts.
import { setTimeout } from 'node:timers/promises';
import type { AnyObject } from '../../src/kube/objects.ts';
import { difference } from './difference.ts';
import type { Hands } from './hands.ts';
import type { Move } from './scenario.ts';

/** How long a cluster may take until an assertion holds. Collecting garbage of a brand-new kind is slow. */
const DEADLINE_MS = 40_000;
/** A look at the cluster costs a process, so looks get rarer. */
const FIRST_LOOK_MS = 50;
const RAREST_LOOK_MS = 500;

export interface RunOptions {
  readonly hands: Hands;
  readonly deadlineMs?: number;
  /** Told of every move that is done. */
  readonly onMove?: (move: Move) => Promise<void> | void;
}

/** Carries out the moves in order; rejects, naming the move and what is wrong, when one fails. */
export async function play(moves: readonly Move[], options: RunOptions): Promise<void> {
  for (const move of moves) {
    try {
      await carryOut(move, options);
    } catch (error) {
      throw new Error(`${move.name}: ${(error as Error).message}`, { cause: error });
    }
    await options.onMove?.(move);
  }
}

async function carryOut(move: Move, options: RunOptions): Promise<void> {
  const { hands } = options;
  switch (move.does) {
    case 'apply':
      return hands.apply(move.objects);
    case 'patch':
      for (const object of move.objects) await hands.patch(object);
      return;
    case 'delete':
      return hands.delete(move.objects);
    case 'wait':
      for (const { for: condition, ...object } of move.objects) await hands.wait(object, String(condition));
      return;
    case 'assert':
    case 'errors':
      return holds(move, options);
  }
}

async function holds(move: Move, { hands, deadlineMs = DEADLINE_MS }: RunOptions): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, RAREST_LOOK_MS)) {
    const wrong = await whatIsWrong(move, hands);
    if (wrong === undefined) return;
    if (performance.now() > end) throw new Error(wrong);
    await setTimeout(pauseMs);
  }
}

async function whatIsWrong({ does, objects }: Move, hands: Hands): Promise<string | undefined> {
  const named = objects.filter(({ metadata }) => metadata.name !== undefined);
  const there = named.length === 0 ? [] : await hands.get(named);
  for (const wanted of objects) {
    const isNamed = named.includes(wanted);
    const candidates = isNamed ? there.filter((object) => isSame(object, wanted)) : await hands.list(wanted);
    const wrong = candidates.map((object) => difference(wanted, object));
    const fits = wrong.includes(undefined);
    if (does === 'assert' && !fits) return `${show(wanted)}: ${[...new Set(wrong)].join(', or ') || 'there is none'}`;
    if (does === 'errors' && fits) return `${show(wanted)} is there`;
  }
  return undefined;
}

function isSame(a: AnyObject, b: AnyObject): boolean {
  return a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
}

function show({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? '*'}`;
}
