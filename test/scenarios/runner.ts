// Runs a scenario: one move after the other, each with a deadline. Called by the test suites and by run.ts.
import { setTimeout } from 'node:timers/promises';
import { parseDuration } from '../../src/kube/index.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { difference } from './difference.ts';
import type { Hands } from './hands.ts';
import type { History } from './history.ts';
import type { Move } from './scenario.ts';

/** How long a cluster may take until an assertion holds. Collecting garbage of a brand-new kind is slow. */
const DEADLINE_MS = 40_000;
/** Looks get rarer. */
const FIRST_LOOK_MS = 50;
const RAREST_LOOK_MS = 500;

export interface RunOptions {
  readonly hands: Hands;
  /** Looks instead of the hands, where these are a process for each look. */
  readonly eyes?: Hands;
  readonly deadlineMs?: number;
  /** What was recorded since before the first move. */
  readonly history?: History;
  /** Lets time go by for the controllers. */
  readonly pass?: (ms: number) => void;
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
    case 'status':
      for (const object of await named(move.objects, hands)) await hands[move.does](object);
      return;
    case 'delete':
    case 'deleting':
      return hands[move.does](await named(move.objects, hands));
    case 'pass':
      return options.pass?.(parseDuration(String(move.objects[0]?.['time']))!);
    case 'wait':
      for (const { for: condition, ...object } of move.objects) await hands.wait(object, String(condition));
      return;
    case 'assert':
    case 'errors':
    case 'order':
    case 'phases':
      return holds(move, options);
  }
}

/** Objects by their names: one without a name stands for all of its kind that have its labels. */
async function named(objects: readonly AnyObject[], hands: Hands): Promise<readonly AnyObject[]> {
  const found = await Promise.all(
    objects.map(async (object) => {
      if (object.metadata.name !== undefined) return [object];
      const { labels = {} } = object.metadata;
      const like = (await hands.list(object)).filter(
        (each) => !difference({ labels }, { labels: {}, ...each.metadata }),
      );
      return like.map(({ metadata: { name, namespace } }) => ({
        ...object,
        metadata: { ...object.metadata, name, namespace },
      }));
    }),
  );
  return found.flat();
}

async function holds(move: Move, options: RunOptions): Promise<void> {
  const { deadlineMs = DEADLINE_MS } = options;
  const end = performance.now() + deadlineMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 1.5, RAREST_LOOK_MS)) {
    const wrong = await whatIsWrong(move, { ...options, hands: options.eyes ?? options.hands });
    if (wrong === undefined) return;
    if (performance.now() > end) throw new Error(wrong);
    await setTimeout(pauseMs);
  }
}

async function whatIsWrong({ does, objects }: Move, { hands, history }: RunOptions): Promise<string | undefined> {
  if (does === 'order') return history?.orderProblem(objects);
  if (does === 'phases') return objects.map((object) => history?.phasesProblem(object)).find(Boolean);
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
