// Builds the clone of a Deployment: the current base with the overrides of a subset. Overrides win; everything else
// follows the base.
import type { ContainerOverrides, DynamicEnv, EnvVar, Subset } from '../../api/dynamicenv.ts';
import { keyOf } from '../../kube/objects.ts';
import { ownedPart } from '../../kube/write/owned.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { isScaledDown } from '../lifecycle/sleep.ts';
import { messages } from '../status/messages.ts';
import { cloneName, FIELD_MANAGER, MARKER_LABEL, uniqueVersion } from '../names.ts';
import type { Container, Deployment, HorizontalPodAutoscaler, Labels, PodTemplate } from '../objects.ts';
import type { Settings } from '../settings.ts';

/**
 * The desired clone for a subset; throws `OverrideError` if an override can't be applied. It does not copy operations
 * on the base, such as a pause or a restart: `live`, the current clone, has its own.
 */
export function buildClone(
  env: DynamicEnv,
  subset: Subset,
  base: Deployment,
  settings: Settings,
  live?: Deployment,
): Deployment {
  const labels = pick(
    { ...pick(base.metadata.labels, (name) => !isTracking(name, settings)), ...markerLabels(env, settings) },
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
  return { ...base.spec.template.metadata?.labels, ...markerLabels(env, settings), ...subset.podLabels };
}

function markerLabels(env: DynamicEnv, settings: Settings): Labels {
  return { [settings.versionLabel]: uniqueVersion(env.metadata), [MARKER_LABEL]: 'true' };
}

function cloneTemplate(subset: Subset, template: PodTemplate, labels: Labels, live?: Deployment): PodTemplate {
  const { creationTimestamp: _none, annotations: _all, ...metadata } = template.metadata ?? {};
  // Dropping the annotation of a restart by hand would restart the pods once more.
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

/** Whether an annotation records a restart of all pods, as `kubectl rollout restart` writes it. */
function isRestart(name: string): boolean {
  return /(^|\/)restartedAt$/.test(name);
}

/** Whether a deployer tracks its objects by this label, and would prune the clone because it is not in Git. */
function isTracking(label: string, { trackingLabels }: Settings): boolean {
  return trackingLabels.some((name) => (name.endsWith('*') ? label.startsWith(name.slice(0, -1)) : label === name));
}

function pick(entries: Labels | undefined, isIncluded: (name: string) => boolean): Labels {
  return Object.fromEntries(Object.entries(entries ?? {}).filter(([name]) => isIncluded(name)));
}

/** An override that can't be applied. */
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
 * The variables of the base in their order, replaced if an override has the same name; new ones follow. A duplicate
 * name of the base appears once, with its last value: server-side apply requires unique names.
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

/** A variable with the defaults that the server would add, as those of the base have them. */
function withDefaults(variable: EnvVar): EnvVar {
  const { fieldRef, resourceFieldRef } = variable.valueFrom ?? {};
  if (fieldRef) return { ...variable, valueFrom: { fieldRef: { apiVersion: 'v1', ...fieldRef } } };
  return resourceFieldRef
    ? { ...variable, valueFrom: { resourceFieldRef: { divisor: '0', ...resourceFieldRef } } }
    : variable;
}

/**
 * The clone to apply: without `replicas` if an autoscaler scales it. While we own the field, its live value is kept:
 * giving it up would let the server set 1.
 */
export function leaveReplicasToAutoscaler(
  desired: Deployment,
  live: Deployment | undefined,
  autoscalers: readonly HorizontalPodAutoscaler[],
): Deployment {
  // Autoscalers leave a Deployment at zero alone: we have to scale it up again.
  if (live === undefined || autoscalers.length === 0 || isScaledDown(live)) return desired;
  const { replicas: _asked, ...spec } = desired.spec;
  const owned = ownedPart(live, FIELD_MANAGER) as Partial<Deployment> | undefined;
  const isKept = hasDuplicateListKeys(desired) || owned?.spec?.replicas !== undefined;
  return { ...desired, spec: isKept ? { ...spec, replicas: live.spec.replicas ?? 1 } : spec };
}

/**
 * Whether a Deployment has duplicate keys in a list of server-side apply: one port under two names, say. It can be
 * created, but not applied.
 */
export function hasDuplicateListKeys({ spec: { template } }: Deployment): boolean {
  const { containers = [], initContainers = [], hostAliases, imagePullSecrets } = template.spec ?? {};
  return (
    hasDuplicates(hostAliases, ({ ip }) => ip) ||
    hasDuplicates(imagePullSecrets, ({ name }) => name) ||
    [...containers, ...initContainers].some(({ ports }) =>
      hasDuplicates(ports, ({ containerPort, protocol = 'TCP' }) => JSON.stringify([containerPort, protocol])),
    )
  );
}

function hasDuplicates(list: unknown, keyOf: (item: Readonly<Record<string, unknown>>) => unknown): boolean {
  const keys = ((list ?? []) as readonly Readonly<Record<string, unknown>>[]).map(keyOf);
  return new Set(keys).size < keys.length;
}
