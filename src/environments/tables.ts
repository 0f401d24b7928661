// The tables that environments read, and the indexes for their lookups.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { defineTable, keyOf, refOf } from '../kube/index.ts';
import type { AnyKind, KubeObject, LabelSelector, TableKind } from '../kube/index.ts';
import { delegatesOf as delegateKeys, resolveCalledHost, resolveHost } from '../traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { PodEvent, podOf, slimEvent, START_FAILURES } from './clone/start-failures.ts';
import { clonesOf, itemsOf, MARKER_LABEL, statusKey, uniqueVersion } from './names.ts';
import { Deployment, HorizontalPodAutoscaler, NetworkPolicy, Pod, PodDisruptionBudget, Service } from './objects.ts';
import type { Labels } from './objects.ts';
import { environmentsOf, isUnmarked } from './identity/ownership.ts';
import { worldTables } from '../traffic/index.ts';
import { isInserted } from '../traffic/istio/inserted-routes.ts';
import { streamRoutes } from '../traffic/istio/stream-routes.ts';
import { deploymentOf, slimPod } from './clone/pods.ts';
import type { Settings } from './settings.ts';

/** The entry of the index by environment for objects that we made and that lost their annotation. */
export const NOBODY = '';
/** The entry of the index by selector for objects that may select any pod of a namespace. */
export const ANY = '*';

const byEnvironment = (object: KubeObject): readonly string[] =>
  isUnmarked(object) ? [NOBODY] : environmentsOf(object);

/** Environments that a VirtualService was edited for: those that it names, and those whose routes it has. */
function byEditor(service: VirtualService): readonly string[] {
  const routes = (service.spec?.http ?? []).filter(isInserted);
  const versions = routes.flatMap(({ route = [] }) => route.map(({ destination }) => `version ${destination?.subset}`));
  return [...environmentsOf(service), ...versions];
}

/** Whether a rule declares the version of an environment that it names: then it is not a base rule. */
export function isForEnvironment(rule: DestinationRule): boolean {
  const versions = new Set((rule.spec?.subsets ?? []).map(({ name }) => name));
  return environmentsOf(rule).some((key) => versions.has(uniqueVersion(refOf(key))));
}

/** Hosts that a VirtualService routes to, whatever hosts it lists. */
function byDestination(service: VirtualService, clusterDomain: string): readonly string[] {
  const http = (service.spec?.http ?? []).filter((route) => !isInserted(route));
  const routes = [...http, ...streamRoutes(service).map(({ route }) => route)];
  const hosts = routes.flatMap(({ route = [] }) => route.map(({ destination }) => destination?.host ?? ''));
  return [...new Set(hosts.map((host) => resolveHost(host, service, clusterDomain)))];
}

/** The VirtualServices that one delegates to. */
export function delegatesOf(root: VirtualService): readonly { readonly name: string; readonly namespace: string }[] {
  return (root.spec?.http ?? []).flatMap(({ delegate }) =>
    delegate?.name === undefined
      ? []
      : [{ name: delegate.name, namespace: delegate.namespace || (root.metadata.namespace ?? '') }],
  );
}

/** The entry of the index by selector for a label. */
export function selectorEntry(namespace: string | undefined, key: string, value: string): string {
  return `${namespace} ${key}=${value}`;
}

/** Indexes an object by one label of its selector: all pods that it selects have it. */
function selectorEntries(namespace: string | undefined, labels: Labels = {}): readonly string[] {
  const [first] = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return first === undefined ? [] : [selectorEntry(namespace, ...first)];
}

function bySelector({ metadata, spec }: Service): readonly string[] {
  return selectorEntries(metadata.namespace, spec?.selector);
}

/** The same for a selector that may have only expressions or be empty: it may select any pod. */
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

/** Environments by what may conflict with others: their version, their workloads and their clones. */
export const Environments = defineTable(DynamicEnv, {
  indexes: {
    version: ({ metadata }) => [uniqueVersion(metadata)],
    workload: (env) => itemsOf(env).subsets.map(statusKey),
    clone: clonesOf,
  },
});

export const Deployments = defineTable(Deployment, { indexes: { environment: byEnvironment } });

/** Only pods of clones. */
export const ClonePods = defineTable(Pod, {
  labelSelector: `${MARKER_LABEL}=true`,
  optional: true,
  transform: slimPod,
  indexes: { deployment: deploymentOf },
});

/** Events about pods whose containers are not created: a selector can name only one reason. */
export const StartFailures = START_FAILURES.map((reason) =>
  defineTable(PodEvent, {
    fieldSelector: `reason=${reason}`,
    optional: true,
    transform: slimEvent,
    indexes: { pod: podOf },
  }),
);

export const Services = defineTable(Service, { indexes: { selector: bySelector } });

export const DisruptionBudgets = defineTable(PodDisruptionBudget, {
  optional: true,
  indexes: { selector: ({ metadata, spec }) => byLabelSelector(metadata.namespace, spec?.selector) },
});

export const NetworkPolicies = defineTable(NetworkPolicy, {
  optional: true,
  indexes: { selector: ({ metadata, spec }) => byLabelSelector(metadata.namespace, spec?.podSelector) },
});

export const Autoscalers = defineTable(HorizontalPodAutoscaler, { optional: true, indexes: { scaled: byScaled } });

export const DestinationRules = defineTable(DestinationRule, { indexes: { environment: byEnvironment } });

export const VirtualServices = defineTable(VirtualService, {
  indexes: { environment: byEditor, delegate: delegateKeys },
});

/** Rules and VirtualServices, by the hosts that they list or lead to. */
export interface ByHost {
  readonly rules: TableKind<DestinationRule>;
  readonly virtualServices: TableKind<VirtualService>;
}

const byDomain = new Map<string, ByHost>();

/** The same tables, indexed by hosts: the full form of a short name depends on the cluster domain. */
export function byHost({ clusterDomain }: Pick<Settings, 'clusterDomain'>): ByHost {
  let tables = byDomain.get(clusterDomain);
  if (tables === undefined) {
    tables = {
      rules: defineTable(DestinationRule, {
        indexes: {
          base: (rule) => (isForEnvironment(rule) ? [] : [resolveHost(rule.spec?.host ?? '', rule, clusterDomain)]),
        },
      }),
      virtualServices: defineTable(VirtualService, {
        indexes: {
          host: (service) => (service.spec?.hosts ?? []).map((host) => resolveCalledHost(host, service, clusterDomain)),
          destination: (service) => byDestination(service, clusterDomain),
        },
      }),
    };
    byDomain.set(clusterDomain, tables);
  }
  return tables;
}

/** All tables that environments read, for callers that load them before the first plan. */
export const environmentTables: readonly AnyKind[] = [
  Environments,
  Deployments,
  ClonePods,
  ...StartFailures,
  Services,
  DisruptionBudgets,
  NetworkPolicies,
  Autoscalers,
  DestinationRules,
  VirtualServices,
  ...worldTables,
];
