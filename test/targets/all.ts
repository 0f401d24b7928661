// The scenarios of deployment targets, and the kinds that they are about.
import path from 'node:path';
import {
  managedEnvironment,
  ManagedEnvironment,
  space,
  Space,
  spaceRequest,
  SpaceRequest,
} from '../../src/api/spaces.ts';
import {
  deploymentTarget,
  DeploymentTarget,
  deploymentTargetClaim,
  DeploymentTargetClaim,
  deploymentTargetClass,
  DeploymentTargetClass,
  environment,
  Environment,
} from '../../src/api/targets.ts';
import type { Client, Kind } from '../../src/kube/index.ts';
import { Namespace, Secret } from '../../src/targets/objects.ts';
import { install } from '../scenarios/install.ts';
import { Scenarios } from '../scenarios/scenario.ts';

export const scenarios = new Scenarios(path.join(import.meta.dirname, 'scenarios'));

/** Kinds with a namespace that the controllers manage, or make. */
export const OURS: readonly Kind[] = [
  DeploymentTargetClaim,
  DeploymentTarget,
  SpaceRequest,
  Space,
  Environment,
  ManagedEnvironment,
  Secret,
] as unknown as readonly Kind[];

export const KINDS: readonly Kind[] = [...OURS, Namespace as Kind, DeploymentTargetClass as unknown as Kind];

/** Installs the kinds that targets need; resolves when they are served. */
export function installKinds(client: Client): Promise<void> {
  const resources = [
    deploymentTarget,
    deploymentTargetClaim,
    deploymentTargetClass,
    environment,
    spaceRequest,
    space,
    managedEnvironment,
  ];
  return install(
    client,
    resources.map(({ crd }) => crd),
  );
}
