// What `offshoot claim validate` checks of manifests before a cluster sees them.
import { deploymentTarget, deploymentTargetClaim, deploymentTargetClass, environment } from '../../api/targets.ts';
import { admissionProblems } from '../../targets/index.ts';
import type { Check } from '../manifests/check.ts';

/** All kinds that people write to claim a place and to offer one. */
export const claimChecks: readonly Check[] = [
  deploymentTargetClaim,
  deploymentTarget,
  deploymentTargetClass,
  environment,
].map((resource) => ({ resource, judge: (object) => admissionProblems(object) }));
