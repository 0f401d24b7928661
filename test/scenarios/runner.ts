// Runs the moves of a scenario in order, each with a deadline. Called by the test suites and by run.ts.
import { setTimeout } from 'node:timers/promises';
import { parseDuration } from '../../src/kube/index.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { difference } from './difference.ts';
import type { ClusterActions } from './cluster-actions.ts';
import type { History } from './history.ts';
import type { Move } from './scenario.ts';

/** How long an assertion may take to hold. Garbage collection of a new kind is slow. */
const DEADLINE_MS = 40_000;
/** The pause between checks grows. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 500;

export interface RunOptions {
  readonly actions: ClusterActions;
  /** Reads instead of `actions`, where these would start a process for each read. */
  readonly reader?: ClusterActions;
  readonly deadlineMs?: number;
  /** The recording since before the first move. */
  readonly history?: History;
  /** Advances the controllers' clock. */
  readonly advance?: (ms: number) => void;
  /** Called after every move. */
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
  const { actions } = options;
  switch (move.does) {
    case 'apply':
      return actions.apply(move.objects);
    case 'patch':
    case 'status':
      for (const object of await named(move.objects, actions)) await actions[move.does](object);
      return;
    case 'delete':
    case 'deleting':
      return actions[move.does](await named(move.objects, actions));
    case 'advance':
      return options.advance?.(parseDuration(String(move.objects[0]?.['time']))!);
    case 'wait':
      for (const { for: condition, ...object } of move.objects) await actions.wait(object, String(condition));
      return;
    case 'assert':
    case 'errors':
    case 'order':
    case 'phases':
      return holds(move, options);
  }
}

/** Replaces an object without a name by all objects of its kind that have its labels. */
async function named(objects: readonly AnyObject[], actions: ClusterActions): Promise<readonly AnyObject[]> {
  const found = await Promise.all(
    objects.map(async (object) => {
      if (object.metadata.name !== undefined) return [object];
      const { labels = {} } = object.metadata;
      const like = (await actions.list(object)).filter(
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
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    const wrong = await whatIsWrong(move, { ...options, actions: options.reader ?? options.actions });
    if (wrong === undefined) return;
    if (performance.now() > end) throw new Error(wrong);
    await setTimeout(pauseMs);
  }
}

async function whatIsWrong({ does, objects }: Move, { actions, history }: RunOptions): Promise<string | undefined> {
  if (does === 'order') return history?.orderProblem(objects);
  if (does === 'phases') return objects.map((object) => history?.phasesProblem(object)).find(Boolean);
  const named = objects.filter(({ metadata }) => metadata.name !== undefined);
  const existing = named.length === 0 ? [] : await actions.get(named);
  for (const expected of objects) {
    const isNamed = named.includes(expected);
    const candidates = isNamed ? existing.filter((object) => isSame(object, expected)) : await actions.list(expected);
    const wrong = candidates.map((object) => difference(expected, object));
    const matches = wrong.includes(undefined);
    if (does === 'assert' && !matches)
      return `${show(expected)}: ${[...new Set(wrong)].join(', or ') || 'there is none'}`;
    if (does === 'errors' && matches) return `${show(expected)} is there`;
  }
  return undefined;
}

function isSame(a: AnyObject, b: AnyObject): boolean {
  return a.kind === b.kind && a.metadata.name === b.metadata.name && a.metadata.namespace === b.metadata.namespace;
}

function show({ kind, metadata }: AnyObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? '*'}`;
}
