// The world of a controller: its tables, found by what the compiler looks things up by. Every look-up is a tracked read.
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
/** Rules for some callers of a namespace alone. */
const SelectingRules = defineTable(DestinationRule, {
  indexes: {
    selecting: ({ metadata, spec }) => (spec?.workloadSelector === undefined ? [] : [metadata.namespace ?? '']),
  },
});

/** The kinds that a world is read from, in the tables that it is read from. */
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

/** Where an index by the labels of pods has a Deployment. */
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

/** What a short name stands for depends on the domain of the cluster, so each has an index of its own. */
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

/** Environments have indexes of their own in the same table. */
const delegation = 'delegation';
const lookup = (clusterDomain: string): string => `look-up in ${clusterDomain}`;
const destination = (clusterDomain: string): string => `destination in ${clusterDomain}`;

/** The world that facts show. Who answers for a Service is known from Deployments. */
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

/** Who answers for a service: Deployments of an index by `templateLabels`. */
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

/** Of a caller's labels those that make a difference to what it is told: Sidecars and rules select by them. */
export function tellingLabels(
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
