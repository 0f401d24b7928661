// Brings a mesh at AWS to its desired state: observes it, and writes only what differs, one resource type at a time.
import { WriteForbidden } from '../../kube/index.ts';
import type { Body } from '../backends/appmesh-api.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { decide, keptBackends } from '../reconcile/decide.ts';
import type { Guards } from '../reconcile/decide.ts';
import { titleOf } from '../reconcile/resources.ts';
import type { Resource } from '../reconcile/resources.ts';
import { errorKindOf } from './api.ts';
import type { AppMeshApi } from './api.ts';
import { observe } from './observe.ts';
import type { Observed } from './observe.ts';
import { isAsSent, isSameSpec, partOfBody, tagsOf, withBackends } from './resources.ts';
import type { Part } from './resources.ts';
import { eachOf, withRetry } from './retry.ts';
import type { RetryPolicy } from './retry.ts';

export interface Target {
  readonly api: AppMeshApi;
  readonly meshName: string;
  /** See `ownerOf`. */
  readonly owner: string;
  readonly guards: Guards;
  readonly retryPolicy: RetryPolicy;
  /** Called after every call that changed something. */
  readonly onWrite?: (what: string) => void;
}

/** The result of syncing a mesh. */
export interface Result {
  /** The number of calls that changed something. */
  readonly writes: number;
  readonly problems: readonly Problem[];
  /** A resource is still in use, or somebody created it at the same time: retry soon. */
  readonly isUnfinished: boolean;
  /** Removals wait until the desired state has settled. */
  readonly isWaiting: boolean;
  /** No resource of the mesh is left. */
  readonly isGone: boolean;
}

/** The specs that we sent and the forms in which AWS stored them, so that its changes are not reverted. */
export type StoredSpecs = Map<string, { readonly sent: object; readonly answered: object }>;

export async function syncMesh(bodies: readonly Body[], target: Target, storedSpecs: StoredSpecs): Promise<Result> {
  const { api, meshName, owner, guards, retryPolicy } = target;
  const desired = bodies.map(partOfBody);
  const desiredIds = new Set(desired.map(keyOf));
  const { hasMesh, found } = await observe(api, meshName, owner, (ref) => desiredIds.has(refKey(ref)), retryPolicy);
  const decision = decide<Part, Observed>(desired, found, guards);
  const run = new Calls(target);
  if (!hasMesh && !guards.isDeleting) {
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
  const remember = (part: Part, answered: object): void =>
    void storedSpecs.set(keyOf(part), { sent: part.spec, answered });
  for (const same of Map.groupBy(complete, ({ type }) => type).values()) {
    await run.all(
      same.filter((part) => !live.has(keyOf(part))),
      titleOf,
      async (part) => {
        const { spec } = await api.create(meshName, part.ref, part.spec, tagsOf(owner, part.spec));
        remember(part, spec);
      },
    );
    const differing = same.filter((part) => {
      const before = live.get(keyOf(part));
      return before !== undefined && !isInPlace(part, before, storedSpecs);
    });
    await run.all(differing, titleOf, async (part) => {
      const { arn, spec } = await api.update(meshName, part.ref, part.spec);
      remember(part, spec);
      await withRetry(() => api.tag(arn, tagsOf(owner, part.spec)), retryPolicy);
    });
  }
  for (const group of decision.removals) {
    await run.all(group, titleOf, async (each) => {
      storedSpecs.delete(keyOf(each));
      await orAbsent(each.ref === undefined ? api.deleteMesh(meshName) : api.delete(meshName, each.ref));
    });
  }
  const blocked = decision.blocked === undefined ? [] : [decision.blocked];
  return {
    writes: run.writes,
    problems: [...run.problems, ...decision.foreign, ...blocked],
    isUnfinished: run.isUnfinished,
    isWaiting: decision.isWaiting,
    isGone: guards.isDeleting && !run.isStopped,
  };
}

const keyOf = ({ type, id }: Resource): string => `${type} ${id}`;
const refKey = ({ type, name, router }: Part['ref']): string =>
  `${type} ${router === undefined ? '' : `${router}/`}${name}`;

/** Whether a resource is ours and has the desired spec. */
function isInPlace(part: Part, before: Observed, storedSpecs: StoredSpecs): boolean {
  if (!before.isOurs || before.spec === undefined) return false;
  if (isSameSpec(part.spec, before.spec)) return true;
  // Another process wrote it: the form that AWS stored counts as the form of this spec.
  if (!storedSpecs.has(keyOf(part)) && isAsSent(part.spec, before.spec, before.tags ?? {})) {
    storedSpecs.set(keyOf(part), { sent: part.spec, answered: before.spec });
  }
  const known = storedSpecs.get(keyOf(part));
  return known !== undefined && isSameSpec(known.sent, part.spec) && isSameSpec(known.answered, before.spec);
}

/** Ignores that a resource is already deleted. */
async function orAbsent(removing: Promise<void>): Promise<void> {
  await removing.catch((error: unknown) => {
    if (errorKindOf(error) !== 'absent') throw error;
  });
}

/** Makes calls, one group at a time. After a failure no further group is started. */
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
        await withRetry(() => call(item), this.#target.retryPolicy);
        this.writes++;
        this.#target.onWrite?.(title(item));
      } catch (error) {
        this.#failed(title(item), error);
      }
    });
  }

  #failed(what: string, error: unknown): void {
    if (error instanceof WriteForbidden) throw error;
    const kind = errorKindOf(error);
    // Otherwise the resource is absent, exists already, or is in use: the next sync looks again.
    if (kind === 'refused' || kind === 'transient') {
      this.problems.push(problems.writeRefused(what, `AWS: ${(error as Error).name}: ${(error as Error).message}`));
    } else this.isUnfinished = true;
  }
}
