// What an environment looks up, and the indexes that make looking up cheap however much else there is.
import { DynamicEnv } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { keyOf, reading } from '../kube/index.ts';
import type { Kind, KubeObject, LabelSelector, Ref, TableDeclaration } from '../kube/index.ts';
import { resolveCalledHost, resolveHost } from '../traffic/istio/hosts.ts';
import { environmentsOf, isCloneOf, isInserted, isRuleOf, isUnmarked } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { itemsOf, MARKER_LABEL, statusKey, uniqueVersion } from './names.ts';
import { Deployment, HorizontalPodAutoscaler, NetworkPolicy, Pod, PodDisruptionBudget, Service } from './objects.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import type { Labels } from './objects.ts';
import { deploymentOf, slimPod } from './pods.ts';
import { servicesOf } from './services.ts';
import type { Settings } from './settings.ts';

/** Where the index by environment has what we made and nobody's annotation names any more. */
const NOBODY = '';
/** Where the index by selector has what may select any pod of a namespace. */
const ANY = '*';

const byEnvironment = (object: KubeObject): readonly string[] =>
  isUnmarked(object) ? [NOBODY] : environmentsOf(object);

/** Environments that a VirtualService was edited for: those that it names, and those whose routes it carries. */
function byEditor(service: VirtualService): readonly string[] {
  const routes = (service.spec?.http ?? []).filter(isInserted);
  const versions = routes.flatMap(({ route = [] }) => route.map(({ destination }) => `version ${destination?.subset}`));
  return [...environmentsOf(service), ...versions];
}

/** Hosts that a VirtualService leads to, whatever hosts it is for. */
function byDestination(service: VirtualService, clusterDomain: string): readonly string[] {
  const routes = (service.spec?.http ?? []).filter((route) => !isInserted(route));
  const hosts = routes.flatMap(({ route = [] }) => route.map(({ destination }) => destination?.host ?? ''));
  return [...new Set(hosts.map((host) => resolveHost(host, service, clusterDomain)))];
}

function delegatesOf(root: VirtualService): readonly { readonly name: string; readonly namespace: string }[] {
  return (root.spec?.http ?? []).flatMap(({ delegate }) =>
    delegate?.name === undefined
      ? []
      : [{ name: delegate.name, namespace: delegate.namespace || (root.metadata.namespace ?? '') }],
  );
}

function selectorEntry(namespace: string | undefined, key: string, value: string): string {
  return `${namespace} ${key}=${value}`;
}

/** An object under one entry of the labels that it selects pods by: those that it selects have that label. */
function selectorEntries(namespace: string | undefined, labels: Labels = {}): readonly string[] {
  const [first] = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return first === undefined ? [] : [selectorEntry(namespace, ...first)];
}

function bySelector({ metadata, spec }: Service): readonly string[] {
  return selectorEntries(metadata.namespace, spec?.selector);
}

/** The same for a selector that may have expressions, or ask for nothing: it may then select any pod. */
function byLabelSelector(namespace: string | undefined, selector: LabelSelector | undefined): readonly string[] {
  if (selector === undefined) return [];
  const entries = selectorEntries(namespace, selector.matchLabels);
  return entries.length > 0 ? entries : [`${namespace} ${ANY}`];
}

/** The Deployment that an autoscaler scales. */
function byScaled({ metadata, spec }: HorizontalPodAutoscaler): readonly string[] {
  const { kind, name } = spec?.scaleTargetRef ?? {};
  return kind === 'Deployment' && name !== undefined ? [keyOf({ ...metadata, name })] : [];
}

/** Environments by what others must not have too: their version, and the workloads whose requests they ask for. */
export const environmentTable = reading(DynamicEnv, {
  indexes: {
    version: ({ metadata }) => [uniqueVersion(metadata)],
    workload: (env) => itemsOf(env).subsets.map(statusKey),
  },
});

/** The tables that environments read. */
export function environmentTables({ clusterDomain }: Pick<Settings, 'clusterDomain'>): readonly TableDeclaration[] {
  return [
    environmentTable,
    reading(Deployment, { indexes: { environment: byEnvironment } }),
    // Of clones alone.
    reading(Pod, {
      labelSelector: `${MARKER_LABEL}=true`,
      optional: true,
      transform: slimPod,
      indexes: { deployment: deploymentOf },
    }),
    reading(Service, { indexes: { selector: bySelector } }),
    reading(PodDisruptionBudget, {
      optional: true,
      indexes: { selector: ({ metadata, spec }) => byLabelSelector(metadata.namespace, spec?.selector) },
    }),
    reading(NetworkPolicy, {
      optional: true,
      indexes: { selector: ({ metadata, spec }) => byLabelSelector(metadata.namespace, spec?.podSelector) },
    }),
    reading(HorizontalPodAutoscaler, { optional: true, indexes: { scaled: byScaled } }),
    reading(DestinationRule, {
      indexes: {
        environment: byEnvironment,
        host: (rule) => [resolveHost(rule.spec?.host ?? '', rule, clusterDomain)],
      },
    }),
    reading(VirtualService, {
      indexes: {
        environment: byEditor,
        host: (service) => (service.spec?.hosts ?? []).map((host) => resolveCalledHost(host, service, clusterDomain)),
        destination: (service) => byDestination(service, clusterDomain),
        delegate: (service) => delegatesOf(service).map(keyOf),
      },
    }),
  ];
}

/** The services that select the pods of a Deployment, by name. */
export function findServices(view: View, base: Deployment): readonly Service[] {
  return servicesOf(base, findSelecting(view, Service, base));
}

/** Objects of a kind that may select the pods of a Deployment. */
export function findSelecting<T extends KubeObject>(view: View, kind: Kind<T>, base: Deployment): readonly T[] {
  const { namespace } = base.metadata;
  const labels = Object.entries(base.spec.template.metadata?.labels ?? {});
  const entries = labels.map(([key, value]) => selectorEntry(namespace, key, value));
  return [...entries, `${namespace} ${ANY}`].flatMap((entry) => view.index(kind, 'selector', entry));
}

/** Autoscalers that scale a Deployment. */
export function findAutoscalers(view: View, deployment: Ref): readonly HorizontalPodAutoscaler[] {
  return view.index(HorizontalPodAutoscaler, 'scaled', keyOf(deployment));
}

/** The pods of a clone. */
export function findPods(view: View, clone: Deployment): readonly Pod[] {
  return view.index(Pod, 'deployment', keyOf(clone.metadata));
}

/** VirtualServices that this environment has edited, wherever they are. */
export function findEdited(view: View, env: DynamicEnv): readonly VirtualService[] {
  const found = [
    ...view.index(VirtualService, 'environment', keyOf(env.metadata)),
    ...view.index(VirtualService, 'environment', `version ${uniqueVersion(env.metadata)}`),
  ];
  return [...new Map(found.map((service) => [keyOf(service.metadata), service])).values()];
}

/** Other environments with the same version. */
export function findSameVersion(view: View, env: DynamicEnv): readonly DynamicEnv[] {
  return view
    .index(DynamicEnv, 'version', uniqueVersion(env.metadata))
    .filter((other) => keyOf(other.metadata) !== keyOf(env.metadata));
}

/** Clones and rules that were made for an environment. */
export interface Made {
  readonly clones: readonly Deployment[];
  readonly rules: readonly DestinationRule[];
}

/** All clones and rules that were made for an environment, wanted or not. */
export function findMade(view: View, env: DynamicEnv, { taken }: Owner): Made {
  const made = <T extends KubeObject>(kind: Kind<T>, isOurs: (env: DynamicEnv, object: T) => boolean): readonly T[] => {
    const unmarked = view.index(kind, 'environment', NOBODY);
    return [
      ...view.index(kind, 'environment', keyOf(env.metadata)),
      ...unmarked.filter(({ metadata }) => !taken.has(metadata.namespace ?? '')),
    ].filter((object) => isOurs(env, object));
  };
  return { clones: made(Deployment, isCloneOf), rules: made(DestinationRule, isRuleOf) };
}

export interface FoundVirtualServices {
  /** Those that have routes for the host, each followed by its delegates. */
  readonly virtualServices: readonly VirtualService[];
  /** Delegates that are named and not there. */
  readonly missing: readonly { readonly name: string; readonly namespace: string }[];
  /** Those that lead to the host too, and are not edited. */
  readonly leftAlone: readonly LeftAlone[];
}

/** A VirtualService that is not edited, and those whose hosts and gateways it works for: itself, or its roots. */
interface LeftAlone {
  readonly service: VirtualService;
  readonly roots: readonly VirtualService[];
}

/**
 * The VirtualServices that decide about requests to a host: those that list it, and the delegates of those; at a gateway
 * also those that lead there for any host, for that is how requests come in that ask for a public name.
 */
export function findVirtualServices(
  view: View,
  host: string,
  hasRoutes: (service: VirtualService) => boolean,
  { gatewayRoutes }: Settings,
): FoundVirtualServices {
  const services = new Map<string, VirtualService>();
  const missing = new Map<string, { name: string; namespace: string }>();
  for (const root of view.index(VirtualService, 'host', host)) {
    if (hasRoutes(root)) services.set(keyOf(root.metadata), root);
    for (const ref of delegatesOf(root)) {
      const found = view.get(VirtualService, ref);
      if (found === undefined) missing.set(keyOf(ref), ref);
      else services.set(keyOf(ref), found);
    }
  }
  const leftAlone: LeftAlone[] = [];
  for (const service of view.index(VirtualService, 'destination', host)) {
    const key = keyOf(service.metadata);
    if (services.has(key)) continue;
    const isDelegate = (service.spec?.hosts ?? []).length === 0;
    const roots = isDelegate ? view.index(VirtualService, 'delegate', key) : [service];
    if (gatewayRoutes && roots.some((root) => gatewaysOf(root).length > 0) && hasRoutes(service)) {
      services.set(key, service);
    } else leftAlone.push({ service, roots });
  }
  return { virtualServices: [...services.values()], missing: [...missing.values()], leftAlone };
}

/** The gateways that a VirtualService is bound to; none if it is for the mesh alone. */
export function gatewaysOf({ spec }: VirtualService): readonly string[] {
  return (spec?.gateways ?? []).filter((gateway) => gateway !== 'mesh');
}
