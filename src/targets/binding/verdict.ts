// What a reconcile of the binder finds out about a claim, and what the binder then writes as its status.
import type { DeploymentTarget } from '../../api/targets.ts';
import type { Step } from '../../kube/index.ts';
import type { Problem } from '../provisioning/eligible.ts';

export interface Verdict {
  /** Undefined: as it was. */
  readonly phase: 'Pending' | 'Bound' | 'Lost' | undefined;
  readonly steps?: readonly Step[];
  /** What is wrong. */
  readonly problem?: Problem;
  /** Why the claim can't be used, where nothing is wrong with it. */
  readonly unready?: Problem;
  /** The target that it has. */
  readonly target?: DeploymentTarget;
}
