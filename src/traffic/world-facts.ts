// The world of a controller: its tables, with indexes for the lookups of the compiler. Every lookup is a tracked read.
import type { Facts } from '../controller/index.ts';
import { defineTable, keyOf } from '../kube/index.ts';
import type { AnyKind, TableKind } from '../kube/index.ts';
import { delegatesOf, destinationHosts, ruleHost, virtualServiceHosts } from './istio/hosts.ts';
import { DestinationRule, Gateway, ServiceEntry, Sidecar, VirtualService } from './istio/objects.ts';
import { Deployment, meshService, meshServicesOf, selects, Service, workloadOf } from './services.ts';
import type { PodOwner } from './services.ts';
import { meshConfigTables } from './mesh-config.ts';
import type { MeshService, MeshSettings, World } from './world.ts';

const Deployments = defineTable(Deployment, { indexes: { 'template label': templateLabels } });
const Entries = defineTable(ServiceEntry, {
  optional: true,
  indexes: { host: ({ spec }) => (spec?.hosts ?? []).map((host) => host.toLowerCase()) },
});
const Sidecars = defineTable(Sidecar, { optional: true });
const Gateways = defineTable(Gateway, { optional: true });
/** DestinationRules that select workloads, by namespace. */
const SelectingRules = defineTable(DestinationRule, {
  indexes: {
    selecting: ({ metadata, spec }) => (spec?.workloadSelector === undefined ? [] : [metadata.namespace ?? '']),
  },
});

/** The tables that a world is read from. */
export const worldTables: readonly AnyKind[] = [
  VirtualService,
  DestinationRule,
  Service,
  Deployments,
  Entries,
  Sidecars,
  Gateways,
  ...meshConfigTables,
];

/** The keys of a Deployment in an index by pod labels. */
export function templateLabels({ metadata, spec }: PodOwner): readonly string[] {
  return Object.entries(spec?.template?.metadata?.labels ?? {}).map((label) => labelEntry(metadata.namespace, label));
}

function labelEntry(namespace: string | undefined, [name, value]: readonly [string, string]): string {
  return `${namespace} ${name}=${value}`;
}

interface ByHost {
  readonly virtualServices: TableKind<VirtualService>;
  readonly rules: TableKind<DestinationRule>;
}

const byDomain = new Map<string, ByHost>();

/** The meaning of a short name depends on the cluster domain, so each domain has its own indexes. */
function byHost(clusterDomain: string): ByHost {
  let found = byDomain.get(clusterDomain);
  if (found === undefined) {
    found = {
      virtualServices: defineTable(VirtualService, {
        indexes: {
          [lookup(clusterDomain)]: (service) => virtualServiceHosts(service, clusterDomain),
          [destination(clusterDomain)]: (service) => destinationHosts(service, clusterDomain),
          [delegation]: delegatesOf,
        },
      }),
      rules: defineTable(DestinationRule, {
        indexes: { [lookup(clusterDomain)]: (rule) => [ruleHost(rule, clusterDomain)] },
      }),
    };
    byDomain.set(clusterDomain, found);
  }
  return found;
}

/** Index names. Environments define other indexes on the same table. */
const delegation = 'delegation';
const lookup = (clusterDomain: string): string => `look-up in ${clusterDomain}`;
const destination = (clusterDomain: string): string => `destination in ${clusterDomain}`;

/** The world that the facts describe. The workloads of a Service are its Deployments. */
export function worldOfFacts(facts: Facts, settings: MeshSettings): World {
  const { clusterDomain } = settings;
  const { virtualServices, rules } = byHost(clusterDomain);
  const index = lookup(clusterDomain);
  return {
    settings,
    virtualServices: (host) => facts.index(virtualServices, index, host),
    virtualService: (ref) => facts.get(virtualServices, ref),
    virtualServicesTo: (host) => facts.index(virtualServices, destination(clusterDomain), host),
    delegatingTo: (ref) => facts.index(virtualServices, delegation, keyOf(ref)),
    destinationRules: (host) => facts.index(rules, index, host),
    services: (host) => [
      ...serviceOf(facts, host, clusterDomain),
      ...facts
        .index(Entries, 'host', host)
        .flatMap((entry) => meshServicesOf(entry).filter((each) => each.host === host)),
    ],
    allServices: () => [
      ...facts.list(Service).map((each) => meshService(each, clusterDomain)),
      ...facts.list(Entries).flatMap(meshServicesOf),
    ],
    workloads: (service) => workloadsFor(facts, service),
    sidecars: (namespace) => facts.list(Sidecars, { namespace }),
    sidecarNamespaces: () => [...new Set(facts.list(Sidecars).map(({ metadata }) => metadata.namespace ?? ''))],
    gateways: () => facts.list(Gateways),
  };
}

function serviceOf(facts: Facts, host: string, clusterDomain: string): readonly MeshService[] {
  const suffix = `.svc.${clusterDomain}`;
  const [name, namespace, ...rest] = host.endsWith(suffix) ? host.slice(0, -suffix.length).split('.') : [];
  if (name === undefined || namespace === undefined || rest.length > 0) return [];
  const found = facts.get(Service, { name, namespace });
  return found === undefined ? [] : [meshService(found, clusterDomain)];
}

/** The workloads of a service, from a table of Deployments with an index by `templateLabels`. */
export function workloadsFor(
  facts: Facts,
  service: MeshService,
  [table, index]: readonly [TableKind<PodOwner>, string] = [Deployments, 'template label'],
): ReturnType<World['workloads']> {
  if (service.endpoints !== undefined) return service.endpoints;
  const [label] = Object.entries(service.selector ?? {});
  if (label === undefined) return [];
  return facts
    .index(table, index, labelEntry(service.namespace, label))
    .map(workloadOf)
    .filter((each) => selects(service, each));
}

/** The labels of a caller that affect its rules: those in selectors of Sidecars and DestinationRules. */
export function selectedLabels(
  facts: Facts,
  namespace: string,
  labels: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const selectors = [
    ...facts.list(Sidecars, { namespace }).map(({ spec }) => spec?.workloadSelector?.labels),
    ...facts.index(SelectingRules, 'selecting', namespace).map(({ spec }) => spec?.workloadSelector?.matchLabels),
  ];
  const names = new Set(selectors.flatMap((each) => Object.keys(each ?? {})));
  return Object.fromEntries(Object.entries(labels).filter(([name]) => names.has(name)));
}
