// Admission of the kinds of the claim system: which rules an object is held to, for the webhook and the command line.
import type { Resource } from '../../api/resource.ts';
import { deploymentTarget, deploymentTargetClaim, deploymentTargetClass, environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { environmentProblems } from './environment.ts';
import { classProblems, claimProblems, targetProblems } from './targets.ts';
import { broughtBy } from './problem.ts';
import type { Problem } from './problem.ts';

export type { Problem } from './problem.ts';

type Rules = (object: KubeObject, old: KubeObject | undefined) => readonly Problem[];

const RULES: ReadonlyMap<string, Rules> = new Map([
  rules(environment, environmentProblems),
  rules(deploymentTarget, (target, old) => broughtBy(targetProblems(target), target, old)),
  rules(deploymentTargetClaim, (claim, old) => broughtBy(claimProblems(claim), claim, old)),
  rules(deploymentTargetClass, (ofClass, old) => broughtBy(classProblems(ofClass), ofClass, old)),
]);

/** Rules for objects that fit the schema of their kind. The others are the API server's to refuse. */
function rules<T extends KubeObject & { readonly spec: unknown }>(
  { kind, definition }: Resource<T>,
  judge: (object: T, old: T | undefined) => readonly Problem[],
): [string, Rules] {
  const fits = (object: KubeObject): object is T => definition.spec.safeParse((object as T).spec).success;
  return [kind.kind, (object, old) => (fits(object) ? judge(object, old as T | undefined) : [])];
}

/**
 * What is wrong with an object that is created or, with the one that it was, changed; nothing for kinds that have no
 * rules. One that is being deleted may always be changed: its finalizers have to go.
 */
export function problemsOf(object: KubeObject, old?: KubeObject): readonly Problem[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  return RULES.get(object.kind)?.(object, old) ?? [];
}
