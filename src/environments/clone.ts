// Builds the clone of a Deployment: the base as it is now, with the overrides of a subset on top. What an override
// names wins; everything else follows the base.
import type { ContainerOverrides, DynamicEnv, EnvVar, Subset } from '../api/dynamicenv.ts';
import { messages } from './messages.ts';
import { cloneName, MARKER_LABEL, uniqueVersion, WATCH_ANNOTATION, withEnvironment } from './names.ts';
import type { Container, Deployment, DeploymentCondition, PodTemplate } from './objects.ts';
import type { Settings } from './settings.ts';

/** The clone that an environment wants for a subset; throws `OverrideError` if an override names nothing. */
export function buildClone(env: DynamicEnv, subset: Subset, base: Deployment, settings: Settings): Deployment {
  const version = uniqueVersion(env.metadata);
  const marks = { [settings.versionLabel]: version, [MARKER_LABEL]: 'true' };
  const labels = Object.fromEntries(
    Object.entries({ ...base.metadata.labels, ...marks }).filter(([name]) => !settings.removeLabels.includes(name)),
  );
  const { template, selector, ...spec } = base.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: cloneName(env.metadata, subset),
      namespace: subset.namespace,
      labels,
      annotations: { [WATCH_ANNOTATION]: withEnvironment(env, undefined) },
    },
    spec: {
      ...spec,
      replicas: subset.replicas ?? 1,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [settings.versionLabel]: version } },
      template: cloneTemplate(subset, template, marks),
    },
  };
}

function cloneTemplate(subset: Subset, template: PodTemplate, marks: Readonly<Record<string, string>>): PodTemplate {
  const { creationTimestamp: _none, ...metadata } = template.metadata ?? {};
  const { containers = [], initContainers, ...spec } = template.spec ?? {};
  const overridden = override(subset, 'containers', containers, subset.containers);
  const initial = override(subset, 'init-containers', initContainers ?? [], subset.initContainers);
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, ...marks, ...subset.podLabels } },
    spec: { ...spec, containers: overridden, ...(initial.length > 0 && { initContainers: initial }) },
  };
}

/** An override that can't be carried out. */
export class OverrideError extends Error {
  override readonly name = 'OverrideError';
}

function override(
  subset: Subset,
  list: 'containers' | 'init-containers',
  containers: readonly Container[],
  overrides: readonly ContainerOverrides[] = [],
): readonly Container[] {
  for (const { containerName } of overrides) {
    if (!containers.some(({ name }) => name === containerName)) {
      throw new OverrideError(messages.noContainer(list, subset.name, containerName));
    }
  }
  return containers.map((container) => {
    const wanted = overrides.find(({ containerName }) => containerName === container.name);
    if (wanted === undefined) return container;
    const { image, command, env } = wanted;
    return {
      ...container,
      ...(image && { image }),
      ...(command && command.length > 0 && { command }),
      ...(env && env.length > 0 && { env: mergeEnv(container.env, env) }),
    };
  });
}

/** Variables of the base in their places, replaced where an override has the same name; new ones follow. */
function mergeEnv(base: readonly EnvVar[] = [], overrides: readonly EnvVar[]): readonly EnvVar[] {
  const merged = new Map(base.map((variable) => [variable.name, variable]));
  const named = new Set<string>();
  for (const variable of overrides) {
    if (!named.has(variable.name)) merged.set(variable.name, variable);
    named.add(variable.name);
  }
  return [...merged.values()];
}

/** How far a clone is, in the words of the status. */
export type CloneState = 'missing' | 'unknown' | 'initializing' | 'updating' | 'running' | 'failed' | 'removing';

/** Reads off a clone how far it is. `updated`: it has been changed since it was created. */
export function cloneState(clone: Deployment | undefined, updated: boolean): CloneState {
  if (clone === undefined) return 'missing';
  const { conditions = [], observedGeneration = 0 } = clone.status ?? {};
  const progressing = latest(conditions.filter(({ type }) => type === 'Progressing'));
  if (progressing === undefined) return 'unknown';
  const current = observedGeneration >= (clone.metadata.generation ?? 0);
  if (!current) return updated ? 'updating' : 'initializing';
  if (progressing.status !== 'True') return 'failed';
  if (progressing.reason === 'NewReplicaSetAvailable') return 'running';
  return updated ? 'updating' : 'initializing';
}

/** Why a clone is not running, in the words of whoever runs it. */
export function cloneProblem(clone: Deployment | undefined): string | undefined {
  const conditions = clone?.status?.conditions ?? [];
  const failing = conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  const progressing = latest(conditions.filter(({ type }) => type === 'Progressing'));
  return (failing ?? progressing)?.message;
}

function latest(conditions: readonly DeploymentCondition[]): DeploymentCondition | undefined {
  return conditions.reduce<DeploymentCondition | undefined>(
    (best, each) => (best === undefined || (each.lastUpdateTime ?? '') > (best.lastUpdateTime ?? '') ? each : best),
    undefined,
  );
}
