// All kinds that the claim system reads, for callers that load them before the first plan.
import { ManagedEnvironment, Space, SpaceBinding, SpaceRequest } from '../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../api/targets.ts';
import type { AnyKind } from '../kube/index.ts';
import { contentKinds, Namespace, Secret } from './objects.ts';

export const targetTables: readonly AnyKind[] = [
  DeploymentTarget,
  DeploymentTargetClaim,
  DeploymentTargetClass,
  Environment,
  ManagedEnvironment,
  Namespace,
  Secret,
  Space,
  SpaceBinding,
  SpaceRequest,
  ...contentKinds,
];
