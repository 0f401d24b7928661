// `offshoot target list` and `offshoot target classes`: list deployment targets, and the classes that can be claimed.
import type { DeploymentTarget, DeploymentTargetClass } from '../../api/targets.ts';
import { claimNameOf, phaseOf, PROVISIONED_BY } from '../../targets/index.ts';
import { CLASS, TARGET } from '../claim/nouns.ts';
import { listObjects } from '../objects/list.ts';
import type { Columns, ListOptions } from '../objects/list.ts';

export function listTargets(names: readonly string[], options: ListOptions): Promise<void> {
  return listObjects(TARGET, targetColumns, names, options);
}

export function listClasses(names: readonly string[], options: ListOptions): Promise<void> {
  return listObjects(CLASS, classColumns, names, options);
}

const targetColumns: Columns<DeploymentTarget> = {
  middle: [
    { heading: 'PHASE', cell: phaseOf, state: true },
    { heading: 'CLASS', cell: ({ spec }) => spec.deploymentTargetClassName },
    { heading: 'CLAIM', cell: claimNameOf },
    { heading: 'PLACE', cell: ({ spec }) => spec.kubernetesCredentials.defaultNamespace },
  ],
  wide: [
    { heading: 'SERVER', cell: ({ spec }) => spec.kubernetesCredentials.apiURL },
    { heading: 'SECRET', cell: ({ spec }) => spec.kubernetesCredentials.clusterCredentialsSecret },
    { heading: 'MADE BY', cell: ({ metadata }) => metadata.annotations?.[PROVISIONED_BY] ?? '' },
  ],
};

const classColumns: Columns<DeploymentTargetClass> = {
  middle: [
    { heading: 'PROVISIONER', cell: ({ spec }) => spec.provisioner },
    { heading: 'RECLAIM', cell: ({ spec }) => spec.reclaimPolicy },
  ],
  wide: [{ heading: 'PARAMETERS', cell: ({ spec }) => parametersText(spec.parameters ?? {}) }],
};

function parametersText(parameters: Readonly<Record<string, unknown>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(',');
}
