// Admission of the kinds of the claim system: which rules an object is held to, for the webhook and the command line.
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { environmentProblems } from './environment.ts';
import { classProblems, claimProblems, targetProblems } from './places.ts';
import { broughtBy } from './problem.ts';
import type { Problem } from './problem.ts';

export type { Problem } from './problem.ts';

/**
 * What is wrong with an object that is created or, with the one that it was, changed; nothing for kinds that have no
 * rules. One that is being deleted may always be changed: its finalizers have to go.
 */
export function problemsOf(object: KubeObject, old?: KubeObject): readonly Problem[] {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  switch (object.kind) {
    case Environment.kind:
      return environmentProblems(object as Environment, old as Environment | undefined);
    case DeploymentTarget.kind:
      return broughtBy(targetProblems(object as DeploymentTarget), object, old);
    case DeploymentTargetClaim.kind:
      return broughtBy(claimProblems(object as DeploymentTargetClaim), object, old);
    case DeploymentTargetClass.kind:
      return broughtBy(classProblems(object as DeploymentTargetClass), object, old);
    default:
      return [];
  }
}
