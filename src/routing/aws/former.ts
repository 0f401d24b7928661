// Meshes at AWS that a Mesh had before its name there was changed: what was made in them is removed, or told.
import { problems } from '../errors.ts';
import { meaningOf } from './api.ts';
import { observe } from './observe.ts';
import { isOwnedBy } from './resources.ts';
import { eachOf, patiently } from './retry.ts';
import { bringUpToDate } from './writer.ts';
import type { Result, Target } from './writer.ts';

/** Names of other meshes that were made for the same Mesh; none where we may not list meshes. */
export async function formerMeshes({ api, meshName, owner, patience }: Target): Promise<readonly string[]> {
  try {
    const all = await patiently(() => api.meshes(), patience);
    const others = all.filter(({ name }) => name !== meshName);
    const found = await eachOf(others, async ({ name, arn }) => {
      const tags = await patiently(() => api.tags(arn), patience);
      return isOwnedBy(owner, tags) ? [name] : [];
    });
    return found.flat();
  } catch (error) {
    if (meaningOf(error) === 'refused' || meaningOf(error) === 'absent') return [];
    throw error;
  }
}

/** Leaves former meshes; those that nothing is left in are forgotten. */
export async function leaveAll(former: Set<string>, target: Target, result: Result): Promise<Result> {
  let after = result;
  for (const name of former) {
    const { problems: found, isUnfinished } = await leave(name, target);
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

/** Takes away what a mesh still has of ours, if the Mesh ends or allows it; otherwise tells of it. */
async function leave(former: string, target: Target): Promise<Pick<Result, 'problems' | 'isUnfinished'>> {
  const { api, owner, guards, patience } = target;
  if (guards.isEnding || guards.allowEmpty) {
    return bringUpToDate([], { ...target, meshName: former, guards: { ...guards, isEnding: true } }, new Map());
  }
  const { found } = await observe(api, former, owner, () => false, patience);
  const count = found.filter(({ isOurs, type }) => isOurs && type !== 'mesh').length;
  return { problems: count === 0 ? [] : [problems.formerMesh(former, count)], isUnfinished: false };
}
