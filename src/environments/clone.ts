// Builds the clone of a Deployment: the base as it is now, with the overrides of a subset on top. What an override
// names wins; everything else follows the base.
import type { ContainerOverrides, DynamicEnv, EnvVar, Subset } from '../api/dynamicenv.ts';
import { keyOf } from '../kube/objects.ts';
import { ownedPart } from '../kube/write/owned.ts';
import { WATCH_ANNOTATION } from './ownership.ts';
import { isScaledDown } from './lifecycle/sleep.ts';
import { messages } from './messages.ts';
import { cloneName, FIELD_MANAGER, MARKER_LABEL, uniqueVersion } from './names.ts';
import type { Container, Deployment, HorizontalPodAutoscaler, Labels, PodTemplate } from './objects.ts';
import type { Settings } from './settings.ts';

/**
 * The clone that an environment wants for a subset; throws `OverrideError` if an override can't be carried out. It takes
 * from its base what a workload is, not how far an operation on it is: `live`, the clone as it is now, has its own.
 */
export function buildClone(
  env: DynamicEnv,
  subset: Subset,
  base: Deployment,
  settings: Settings,
  live?: Deployment,
): Deployment {
  const labels = pick(
    { ...pick(base.metadata.labels, (name) => !isTracking(name, settings)), ...marksOf(env, settings) },
    (name) => !settings.removeLabels.includes(name),
  );
  const { template, selector, paused: _operation, ...spec } = base.spec;
  const matchLabels = { ...selector.matchLabels, [settings.versionLabel]: uniqueVersion(env.metadata) };
  const podLabels = clonePodLabels(env, subset, base, settings);
  for (const [name, value] of Object.entries(matchLabels)) {
    if (podLabels[name] !== value) throw new OverrideError(messages.selectorLabel(subset.name, name));
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: cloneName(env.metadata, subset),
      namespace: subset.namespace,
      labels,
      annotations: { [WATCH_ANNOTATION]: keyOf(env.metadata) },
    },
    spec: {
      ...spec,
      replicas: subset.replicas ?? 1,
      selector: { ...selector, matchLabels },
      template: cloneTemplate(subset, template, podLabels, live),
    },
  };
}

/** The labels of the pods of a clone. */
export function clonePodLabels(env: DynamicEnv, subset: Subset, base: Deployment, settings: Settings): Labels {
  return { ...base.spec.template.metadata?.labels, ...marksOf(env, settings), ...subset.podLabels };
}

function marksOf(env: DynamicEnv, settings: Settings): Labels {
  return { [settings.versionLabel]: uniqueVersion(env.metadata), [MARKER_LABEL]: 'true' };
}

function cloneTemplate(subset: Subset, template: PodTemplate, labels: Labels, live?: Deployment): PodTemplate {
  const { creationTimestamp: _none, annotations: _all, ...metadata } = template.metadata ?? {};
  // To forget that pods were replaced by hand would replace them once more.
  const restarts = pick(live?.spec.template.metadata?.annotations, isRestart);
  const annotations = { ...pick(template.metadata?.annotations, (name) => !isRestart(name)), ...restarts };
  const { containers = [], initContainers = [], ...spec } = template.spec ?? {};
  const overridden = override(subset, 'containers', containers, subset.containers);
  const initial = override(subset, 'init-containers', initContainers, subset.initContainers);
  return {
    metadata: { ...metadata, labels, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { ...spec, containers: overridden, ...(initial.length > 0 && { initContainers: initial }) },
  };
}

/** Whether an annotation records that somebody had all pods replaced, as `kubectl rollout restart` does. */
function isRestart(name: string): boolean {
  return /(^|\/)restartedAt$/.test(name);
}

/** Whether a deployer would take what has this label for its own, and remove it for not being in Git. */
function isTracking(label: string, { trackingLabels }: Settings): boolean {
  return trackingLabels.some((name) => (name.endsWith('*') ? label.startsWith(name.slice(0, -1)) : label === name));
}

function pick(entries: Labels | undefined, isWanted: (name: string) => boolean): Labels {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([name]) => isWanted(name)));
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
    const overriding = overrides.find(({ containerName }) => containerName === container.name);
    const { image, command = [], env = [] } = overriding ?? {};
    const variables = mergeEnv(container.env, env);
    return {
      ...container,
      ...(image && { image }),
      ...(command.length > 0 && { command }),
      ...(variables.length > 0 && { env: variables }),
    };
  });
}

/**
 * Variables of the base in their places, replaced where an override has the same name; new ones follow. A name that the
 * base has twice is there once, with the value that counts: applying an object by name of its list items asks for it.
 */
function mergeEnv(base: readonly EnvVar[] = [], overrides: readonly EnvVar[]): readonly EnvVar[] {
  const merged = new Map(base.map((variable) => [variable.name, variable]));
  const named = new Set<string>();
  for (const variable of overrides) {
    if (!named.has(variable.name)) merged.set(variable.name, withDefaults(variable));
    named.add(variable.name);
  }
  return [...merged.values()];
}

/** A variable with what the server would add to it, as those of the base have it already. */
function withDefaults(variable: EnvVar): EnvVar {
  const { fieldRef, resourceFieldRef } = variable.valueFrom ?? {};
  if (fieldRef) return { ...variable, valueFrom: { fieldRef: { apiVersion: 'v1', ...fieldRef } } };
  return resourceFieldRef
    ? { ...variable, valueFrom: { resourceFieldRef: { divisor: '0', ...resourceFieldRef } } }
    : variable;
}

/**
 * A clone as it is to be applied: where an autoscaler names it, without the number of its pods. As long as we are the
 * one who set it, the present number is kept: to give it up would let the server set 1.
 */
export function leaveScale(
  desired: Deployment,
  live: Deployment | undefined,
  autoscalers: readonly HorizontalPodAutoscaler[],
): Deployment {
  // One at zero is left alone by autoscalers: whoever put it there has to scale it up again.
  if (live === undefined || autoscalers.length === 0 || isScaledDown(live)) return desired;
  const { replicas: _asked, ...spec } = desired.spec;
  const owned = ownedPart(live, FIELD_MANAGER) as Partial<Deployment> | undefined;
  const isKept = hasTwins(desired) || owned?.spec?.replicas !== undefined;
  return { ...desired, spec: isKept ? { ...spec, replicas: live.spec.replicas ?? 1 } : spec };
}

/**
 * Whether a Deployment names something twice that applying tells apart by name: one port under two names, say. It may
 * be created, but not applied.
 */
export function hasTwins({ spec: { template } }: Deployment): boolean {
  const { containers = [], initContainers = [], hostAliases, imagePullSecrets } = template.spec ?? {};
  return (
    repeats(hostAliases, ({ ip }) => ip) ||
    repeats(imagePullSecrets, ({ name }) => name) ||
    [...containers, ...initContainers].some(({ ports }) =>
      repeats(ports, ({ containerPort, protocol = 'TCP' }) => JSON.stringify([containerPort, protocol])),
    )
  );
}

function repeats(list: unknown, keyOf: (item: Readonly<Record<string, unknown>>) => unknown): boolean {
  const keys = ((list ?? []) as readonly Readonly<Record<string, unknown>>[]).map(keyOf);
  return new Set(keys).size < keys.length;
}
