// The objects that the decisions of an environment depend on, looked up in one place. decide.ts decides from them.
import type { DynamicEnv, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { Facts, Refusal } from '../controller/index.ts';
import { isLocal } from '../traffic/compile/destination-rules.ts';
import { wildcardsOver } from '../traffic/compile/hostnames.ts';
import { meshSettingsIn } from '../traffic/index.ts';
import { fullHost } from '../traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { keyOf } from '../kube/index.ts';
import type { AnyKind, Ref } from '../kube/index.ts';
import { clonePodLabels } from './clone/clone.ts';
import {
  findAutoscalers,
  findEdited,
  findMade,
  findPods,
  findSelecting,
  findServices,
  findStartFailures,
  findVirtualServices,
  selects,
} from './lookup/lookup.ts';
import type { FoundVirtualServices, Made } from './lookup/lookup.ts';
import type { PodEvent } from './clone/start-failures.ts';
import { cloneName, itemsOf, ruleName, statusKey } from './names.ts';
import { Deployment } from './objects.ts';
import type { HorizontalPodAutoscaler, NetworkPolicy, Pod, PodDisruptionBudget, Service } from './objects.ts';
import { isCloneOf, isRuleOf } from './identity/ownership.ts';
import type { RouteOwner } from '../traffic/istio/inserted-routes.ts';
import { handles } from '../traffic/istio/insert-routes.ts';
import type { Insertion } from '../traffic/istio/insert-routes.ts';
import { findRoots } from './lookup/roots.ts';
import type { Roots } from './lookup/roots.ts';
import type { Settings } from './settings.ts';
import { byHost, DisruptionBudgets, NetworkPolicies } from './tables.ts';

/** The objects that concern an environment. */
export interface EnvironmentFacts {
  readonly env: DynamicEnv;
  readonly owner: RouteOwner;
  /** Subsets first. A Deployment that is named several times appears once. */
  readonly workloads: readonly WorkloadFacts[];
  /** All clones and rules that were made for it, needed or not. */
  readonly made: Made;
  /** VirtualServices with routes of the environment, or with its name in the annotation. */
  readonly edited: readonly VirtualService[];
  /** The roots of the VirtualServices that lead to the environment or should, with their hosts and gateways. */
  readonly roots: ReadonlyMap<string, Roots>;
  /** Kinds of Istio that the cluster does not serve. */
  readonly unserved: readonly AnyKind[];
  /** Writes that the server refused in this reconcile. */
  readonly refusal: Refusal;
  /** Why the routes of the environment could not be written to the VirtualService with this key. */
  readonly routeRefusal: (service: string) => string | undefined;
}

/** The objects that concern one subset or consumer. */
export interface WorkloadFacts {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  /** Whether the environment names it more than once. */
  readonly isRepeated: boolean;
  readonly base: Deployment | undefined;
  /** Name and namespace of the clone, whether or not it exists. */
  readonly ref: Required<Ref>;
  readonly clone: Deployment | undefined;
  /** Whether another Deployment has the name of the clone. */
  readonly isTaken: boolean;
  /** The pods of the clone. */
  readonly pods: readonly Pod[];
  /** Events that say why containers of these pods are not created. */
  readonly startFailures: readonly PodEvent[];
  /** The rules in the status, with their current state. */
  readonly knownRules: readonly ResourceStatus[];
  /** Autoscalers of the clone: they own its replicas. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** Objects that may select or scale the pods of the base. */
  readonly ofBase: {
    readonly budgets: readonly PodDisruptionBudget[];
    readonly policies: readonly NetworkPolicy[];
    readonly autoscalers: readonly HorizontalPodAutoscaler[];
  };
  /** Services that select the base. */
  readonly services: readonly Service[];
  /** The services that select the clone too, with their rules and VirtualServices. */
  readonly hosts: readonly HostFacts[];
}

/** A service of the clone, with everything that routes requests to it. */
export interface HostFacts extends FoundVirtualServices {
  readonly service: string;
  /** The full name of the service. */
  readonly host: string;
  /** Name and namespace of the environment's rule, whether or not it exists. */
  readonly ruleRef: Required<Ref>;
  readonly rule: DestinationRule | undefined;
  /** Whether another DestinationRule has the name of the rule. */
  readonly isRuleTaken: boolean;
  /** Rules of others for the host. */
  readonly otherRules: readonly DestinationRule[];
  /**
   * Rules for the host in other namespaces: callers there use them instead of those of the service. A rule in the
   * mesh's root namespace only counts if there is no other.
   */
  readonly callersRules: readonly DestinationRule[];
}

export interface FactsOptions extends Partial<Pick<EnvironmentFacts, 'refusal' | 'routeRefusal'>> {
  /** False for an environment that is being deleted: only what was made for it is looked up. */
  readonly lookUpDesired: boolean;
}

const nothing = (): undefined => undefined;

/** Looks up the objects that concern an environment. */
export function factsOf(
  view: Facts,
  env: DynamicEnv,
  owner: RouteOwner,
  settings: Settings,
  { lookUpDesired, refusal = nothing, routeRefusal = nothing }: FactsOptions,
): EnvironmentFacts {
  const { subsets, consumers } = lookUpDesired ? itemsOf(env) : { subsets: [], consumers: [] };
  const all = [
    ...subsets.map((subset) => ({ subset, consumer: false })),
    ...consumers.map((subset) => ({ subset, consumer: true })),
  ];
  const byKey = Map.groupBy(all, ({ subset }) => statusKey(subset));
  const needsIstio = all.some(({ consumer }) => !consumer);
  const workloads = [...byKey].map(([key, [first, ...again]]) => ({
    ...workloadFacts(view, env, first!, settings),
    key,
    isRepeated: again.length > 0,
  }));
  const edited = findEdited(view, env, settings);
  const leading = workloads.flatMap(({ hosts }) => hosts.flatMap(({ virtualServices }) => virtualServices));
  return {
    env,
    owner,
    workloads,
    made: findMade(view, env, owner),
    edited,
    roots: new Map(
      (lookUpDesired ? [...leading, ...edited] : []).map((each) => [
        keyOf(each.metadata),
        findRoots(view, each, settings),
      ]),
    ),
    unserved: needsIstio ? [DestinationRule, VirtualService].filter((kind) => !view.served(kind)) : [],
    refusal,
    routeRefusal,
  };
}

function workloadFacts(
  view: Facts,
  env: DynamicEnv,
  { subset, consumer }: { readonly subset: Subset; readonly consumer: boolean },
  settings: Settings,
): Omit<WorkloadFacts, 'key' | 'isRepeated'> {
  const ref = { name: cloneName(env.metadata, subset), namespace: subset.namespace };
  const found = view.get(Deployment, ref);
  const clone = found !== undefined && isCloneOf(env, found) ? found : undefined;
  const base = view.get(Deployment, subset);
  const pods = clone === undefined ? [] : findPods(view, clone);
  const services = base === undefined || consumer ? [] : findServices(view, base);
  const labels = base && clonePodLabels(env, subset, base, settings);
  const ofClone = labels === undefined ? [] : services.filter((service) => selects(service, labels));
  return {
    subset,
    consumer,
    base,
    ref,
    clone,
    isTaken: found !== clone,
    pods,
    startFailures: findStartFailures(view, pods),
    knownRules: consumer ? [] : knownRules(view, env, subset),
    autoscalers: clone === undefined ? [] : findAutoscalers(view, ref),
    ofBase: {
      budgets: base === undefined ? [] : findSelecting(view, DisruptionBudgets, base),
      policies: base === undefined ? [] : findSelecting(view, NetworkPolicies, base),
      autoscalers: base === undefined ? [] : findAutoscalers(view, base.metadata),
    },
    services,
    hosts: ofClone.map(({ metadata }) => hostFacts(view, env, subset, metadata.name, settings)),
  };
}

function knownRules(view: Facts, env: DynamicEnv, subset: Subset): readonly ResourceStatus[] {
  const { destinationRules = [] } = env.status?.subsetsStatus[statusKey(subset)] ?? {};
  return destinationRules.map((rule) => ({
    ...rule,
    status: view.get(DestinationRule, rule) === undefined ? 'missing' : 'running',
  }));
}

function hostFacts(view: Facts, env: DynamicEnv, subset: Subset, service: string, settings: Settings): HostFacts {
  const host = fullHost(service, subset.namespace, settings.clusterDomain);
  const ruleRef = { name: ruleName(env.metadata, subset, service), namespace: subset.namespace };
  const found = view.get(DestinationRule, ruleRef);
  const rule = found !== undefined && isRuleOf(env, found) ? found : undefined;
  const insertion = insertionOf(env, subset, [host], settings);
  const { rootNamespace } = meshSettingsIn(view, settings);
  const rulesFor = (name: string) => view.index(byHost(settings).rules, 'base', name);
  return {
    service,
    host,
    ruleRef,
    rule,
    isRuleTaken: found !== rule,
    otherRules: rulesFor(host).filter((each) => !isRuleOf(env, each)),
    callersRules: [host, ...wildcardsOver(host)]
      .flatMap(rulesFor)
      .filter((each) => ![subset.namespace, rootNamespace].includes(each.metadata.namespace ?? '') && isLocal(each)),
    ...findVirtualServices(view, env, host, (each) => handles(each, insertion), settings),
  };
}

/** The routes that a subset needs for some hosts. */
export function insertionOf(
  env: DynamicEnv,
  { name, namespace, defaultVersion }: Subset,
  hosts: readonly string[],
  settings: Settings,
): Insertion {
  return {
    workload: { name, namespace },
    clone: cloneName(env.metadata, { name, namespace }),
    hosts,
    defaultVersion: defaultVersion || settings.defaultVersion,
    clusterDomain: settings.clusterDomain,
  };
}
