// Meshes at AWS that belonged to a Mesh before its `awsName` was changed: their resources are removed, or reported.
import { problems } from '../errors.ts';
import { errorKindOf } from './api.ts';
import { observe } from './observe.ts';
import { isOwnedBy } from './resources.ts';
import { eachOf, withRetry } from './retry.ts';
import { syncMesh } from './writer.ts';
import type { Result, Target } from './writer.ts';

/** The names of other meshes that were made for the same Mesh; none if we are not allowed to list meshes. */
export async function formerMeshes({ api, meshName, owner, retryPolicy }: Target): Promise<readonly string[]> {
  try {
    const all = await withRetry(() => api.meshes(), retryPolicy);
    const others = all.filter(({ name }) => name !== meshName);
    const found = await eachOf(others, async ({ name, arn }) => {
      const tags = await withRetry(() => api.tags(arn), retryPolicy);
      return isOwnedBy(owner, tags) ? [name] : [];
    });
    return found.flat();
  } catch (error) {
    if (errorKindOf(error) === 'refused' || errorKindOf(error) === 'absent') return [];
    throw error;
  }
}

/** Cleans up former meshes, and forgets those that are empty. */
export async function cleanUpAll(former: Set<string>, target: Target, result: Result): Promise<Result> {
  let after = result;
  for (const name of former) {
    const { problems: found, isUnfinished } = await cleanUp(name, target);
    if (found.length === 0 && !isUnfinished) former.delete(name);
    after = {
      ...after,
      problems: [...after.problems, ...found],
      isUnfinished: after.isUnfinished || isUnfinished,
      isGone: after.isGone && !former.has(name),
    };
  }
  return after;
}

/** Removes our resources from a former mesh if the Mesh is being deleted or allows it; otherwise reports them. */
async function cleanUp(former: string, target: Target): Promise<Pick<Result, 'problems' | 'isUnfinished'>> {
  const { api, owner, guards, retryPolicy } = target;
  if (guards.isDeleting || guards.allowEmpty) {
    return syncMesh([], { ...target, meshName: former, guards: { ...guards, isDeleting: true } }, new Map());
  }
  const { found } = await observe(api, former, owner, () => false, retryPolicy);
  const count = found.filter(({ isOurs, type }) => isOurs && type !== 'mesh').length;
  return { problems: count === 0 ? [] : [problems.formerMesh(former, count)], isUnfinished: false };
}
