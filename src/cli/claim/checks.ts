// The checks of `offshoot claim validate`, which run without a cluster.
import { deploymentTarget, deploymentTargetClaim, deploymentTargetClass, environment } from '../../api/targets.ts';
import { admissionProblems } from '../../targets/index.ts';
import type { Check } from '../manifests/check.ts';

/** The kinds for claiming and offering deployment targets. */
export const claimChecks: readonly Check[] = [
  deploymentTargetClaim,
  deploymentTarget,
  deploymentTargetClass,
  environment,
].map((resource) => ({ resource, judge: (object) => admissionProblems(object) }));
