// Brings a mesh at AWS to what it should be: looks first, writes only what differs, one type after the other.
import type { Body } from '../backends/appmesh-api.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { decide, keptBackends } from '../reconcile/decide.ts';
import type { Guards } from '../reconcile/decide.ts';
import { titleOf } from '../reconcile/resources.ts';
import type { Resource } from '../reconcile/resources.ts';
import { meaningOf } from './api.ts';
import type { AppMeshApi } from './api.ts';
import { observe } from './observe.ts';
import type { Observed } from './observe.ts';
import { isAsSent, isSameSpec, partOfBody, tagsOf, withBackends } from './resources.ts';
import type { Part } from './resources.ts';
import { eachOf, patiently } from './retry.ts';
import type { Patience } from './retry.ts';

export interface Target {
  readonly api: AppMeshApi;
  readonly meshName: string;
  /** See `ownerOf`. */
  readonly owner: string;
  readonly guards: Guards;
  readonly patience: Patience;
  /** Told of every call that changed something. */
  readonly onWrite?: (what: string) => void;
}

/** What came of bringing a mesh up to date. */
export interface Result {
  /** Calls that changed something. */
  readonly writes: number;
  readonly problems: readonly Problem[];
  /** Something is still in use, or was made by somebody at the same time: look again soon. */
  readonly isUnfinished: boolean;
  /** Something would be removed, and waits until it is certain what is wanted. */
  readonly isWaiting: boolean;
  /** Nothing that was made for the mesh is left. */
  readonly isGone: boolean;
}

/** Forms that AWS gives to specs, where that is not what we sent: they are not fought. */
export type Settled = Map<string, { readonly sent: object; readonly answered: object }>;

export async function bringUpToDate(bodies: readonly Body[], target: Target, settled: Settled): Promise<Result> {
  const { api, meshName, owner, guards, patience } = target;
  const wanted = bodies.map(partOfBody);
  const wantedIds = new Set(wanted.map(keyOf));
  const { hasMesh, found } = await observe(api, meshName, owner, (ref) => wantedIds.has(refKey(ref)), patience);
  const decision = decide<Part, Observed>(wanted, found, guards);
  const run = new Calls(target);
  if (!hasMesh && !guards.isEnding) {
    await run.all(
      [meshName],
      () => `mesh ${meshName}`,
      () => api.createMesh(meshName, tagsOf(owner)),
    );
  }
  const live = new Map(found.map((each) => [keyOf(each), each]));
  const complete = decision.writes.map((part) => {
    const before = live.get(keyOf(part));
    return before === undefined ? part : withBackends(part, keptBackends(before, decision.kept, part));
  });
  const settle = (part: Part, answered: object): void => void settled.set(keyOf(part), { sent: part.spec, answered });
  for (const same of Map.groupBy(complete, ({ type }) => type).values()) {
    await run.all(
      same.filter((part) => !live.has(keyOf(part))),
      titleOf,
      async (part) => {
        const { spec } = await api.create(meshName, part.ref, part.spec, tagsOf(owner, part.spec));
        settle(part, spec);
      },
    );
    const differing = same.filter((part) => {
      const before = live.get(keyOf(part));
      return before !== undefined && !isInPlace(part, before, settled);
    });
    await run.all(differing, titleOf, async (part) => {
      const { arn, spec } = await api.update(meshName, part.ref, part.spec);
      settle(part, spec);
      await patiently(() => api.tag(arn, tagsOf(owner, part.spec)), patience);
    });
  }
  for (const group of decision.removals) {
    await run.all(group, titleOf, async (each) => {
      settled.delete(keyOf(each));
      await orAbsent(each.ref === undefined ? api.deleteMesh(meshName) : api.delete(meshName, each.ref));
    });
  }
  const blocked = decision.blocked === undefined ? [] : [decision.blocked];
  return {
    writes: run.writes,
    problems: [...run.problems, ...decision.foreign, ...blocked],
    isUnfinished: run.isUnfinished,
    isWaiting: decision.isWaiting,
    isGone: guards.isEnding && !run.isStopped,
  };
}

const keyOf = ({ type, id }: Resource): string => `${type} ${id}`;
const refKey = ({ type, name, router }: Part['ref']): string =>
  `${type} ${router === undefined ? '' : `${router}/`}${name}`;

/** Whether a resource is ours and says what it should. */
function isInPlace(part: Part, before: Observed, settled: Settled): boolean {
  if (!before.isOurs || before.spec === undefined) return false;
  if (isSameSpec(part.spec, before.spec)) return true;
  // Another process wrote it: what AWS has made of it since is taken for its form.
  if (!settled.has(keyOf(part)) && isAsSent(part.spec, before.spec, before.tags ?? {})) {
    settled.set(keyOf(part), { sent: part.spec, answered: before.spec });
  }
  const known = settled.get(keyOf(part));
  return known !== undefined && isSameSpec(known.sent, part.spec) && isSameSpec(known.answered, before.spec);
}

/** What is gone already need not be removed. */
async function orAbsent(removing: Promise<void>): Promise<void> {
  await removing.catch((error: unknown) => {
    if (meaningOf(error) !== 'absent') throw error;
  });
}

/** Makes calls, group after group. What goes wrong in one keeps the next from being made. */
class Calls {
  readonly #target: Target;
  readonly problems: Problem[] = [];
  writes = 0;
  isUnfinished = false;

  constructor(target: Target) {
    this.#target = target;
  }

  get isStopped(): boolean {
    return this.isUnfinished || this.problems.length > 0;
  }

  async all<T>(items: readonly T[], title: (item: T) => string, call: (item: T) => Promise<void>): Promise<void> {
    if (this.isStopped) return;
    await eachOf(items, async (item) => {
      try {
        await patiently(() => call(item), this.#target.patience);
        this.writes++;
        this.#target.onWrite?.(title(item));
      } catch (error) {
        this.#failed(title(item), error);
      }
    });
  }

  #failed(what: string, error: unknown): void {
    const meaning = meaningOf(error);
    // What was to be removed is gone, or what was to be changed is: the next look tells.
    if (meaning === 'refused' || meaning === 'transient') {
      this.problems.push(problems.writeRefused(what, `AWS: ${(error as Error).name}: ${(error as Error).message}`));
    } else this.isUnfinished = true;
  }
}
