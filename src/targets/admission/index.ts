// Admission of the kinds of the claim system: which rules apply to an object, for the webhook and the command line.
import type { Resource } from '../../api/resource.ts';
import { deploymentTarget, deploymentTargetClaim, deploymentTargetClass, environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { environmentProblems } from './environment.ts';
import { classProblems, claimProblems, targetProblems } from './targets.ts';
import { introducedBy } from './problem.ts';
import type { Problem } from './problem.ts';

export type { Problem } from './problem.ts';

type Rules = (object: KubeObject, old: KubeObject | undefined) => readonly Problem[];

const RULES: ReadonlyMap<string, Rules> = new Map([
  rules(environment, environmentProblems),
  rules(deploymentTarget, (target, old) => introducedBy(targetProblems(target), target, old)),
  rules(deploymentTargetClaim, (claim, old) => introducedBy(claimProblems(claim), claim, old)),
  rules(deploymentTargetClass, (ofClass, old) => introducedBy(classProblems(ofClass), ofClass, old)),
]);

/** Rules for objects that fit the schema of their kind. The API server rejects the others. */
function rules<T extends KubeObject & { readonly spec: unknown }>(
  resource: Resource<T>,
  check: (object: T, old: T | undefined) => readonly Problem[],
): [string, Rules] {
  const fits = (object: KubeObject): object is T => resource.schemas.spec.safeParse((object as T).spec).success;
  return [resource.kind.kind, (object, old) => (fits(object) ? check(object, old as T | undefined) : [])];
}

/**
 * Problems of an object that is created or, with `old`, updated; none for kinds without rules. An object that is being
 * deleted may always be updated: its finalizers have to be removed.
 */
export function problemsOf(object: KubeObject, old?: KubeObject): readonly Problem[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return RULES.get(object.kind)?.(object, old) ?? [];
}
