// Everything that the plan of an environment depends on, looked up in one place. What follows from it is decided in
// decide.ts.
import type { DynamicEnv, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { Facts, Refusal } from '../controller/index.ts';
import { isLocal } from '../traffic/compile/destination-rules.ts';
import { wildcardsOver } from '../traffic/compile/hostnames.ts';
import { meshSettingsIn } from '../traffic/index.ts';
import { fullHost } from '../traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { keyOf } from '../kube/index.ts';
import type { AnyKind, Ref } from '../kube/index.ts';
import { clonePodLabels } from './clone.ts';
import {
  findAutoscalers,
  findEdited,
  findMade,
  findMountFailures,
  findPods,
  findSelecting,
  findServices,
  findVirtualServices,
} from './lookup.ts';
import type { FoundVirtualServices, Made } from './lookup.ts';
import type { PodEvent } from './mount-failures.ts';
import { cloneName, itemsOf, ruleName, statusKey } from './names.ts';
import { Deployment } from './objects.ts';
import type { HorizontalPodAutoscaler, NetworkPolicy, Pod, PodDisruptionBudget, Service } from './objects.ts';
import { isCloneOf, isRuleOf } from './ownership.ts';
import type { RouteOwner } from '../traffic/istio/inserted-routes.ts';
import { handles } from '../traffic/istio/insert-routes.ts';
import type { Insertion } from '../traffic/istio/insert-routes.ts';
import { findRoots } from './roots.ts';
import type { Roots } from './roots.ts';
import { selects } from './services.ts';
import type { Settings } from './settings.ts';
import { byHost, DisruptionBudgets, NetworkPolicies } from './tables.ts';

/** What is there that concerns an environment. */
export interface EnvironmentFacts {
  readonly env: DynamicEnv;
  readonly owner: RouteOwner;
  /** Subsets first. A Deployment that is named again is in it once. */
  readonly workloads: readonly WorkloadFacts[];
  /** Clones and rules that were made for it, needed or not. */
  readonly made: Made;
  /** VirtualServices that have routes of it, or its name. */
  readonly edited: readonly VirtualService[];
  /** By whose hosts and gateways the VirtualServices work that lead to the environment or should. */
  readonly roots: ReadonlyMap<string, Roots>;
  /** Kinds of Istio that the cluster does not have. */
  readonly unserved: readonly AnyKind[];
  /** What the server refused in this reconcile. */
  readonly refusal: Refusal;
  /** Why the routes of the environment could not be written to the VirtualService with this key. */
  readonly routeRefusal: (service: string) => string | undefined;
}

/** What is there that concerns one subset or consumer. */
export interface WorkloadFacts {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  /** Whether the environment names it more than once. */
  readonly isRepeated: boolean;
  readonly base: Deployment | undefined;
  /** Where the clone is or should be. */
  readonly ref: Required<Ref>;
  readonly clone: Deployment | undefined;
  /** Whether something else has the name of the clone. */
  readonly isTaken: boolean;
  /** Those of the clone. */
  readonly pods: readonly Pod[];
  /** Volumes of these pods that can't be mounted. */
  readonly mountFailures: readonly PodEvent[];
  /** The rules that the status tells of, as they are now. */
  readonly knownRules: readonly ResourceStatus[];
  /** What an autoscaler names is its to scale. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** What may select or scale the pods of the base. */
  readonly ofBase: {
    readonly budgets: readonly PodDisruptionBudget[];
    readonly policies: readonly NetworkPolicy[];
    readonly autoscalers: readonly HorizontalPodAutoscaler[];
  };
  /** Services that select the base. */
  readonly services: readonly Service[];
  /** Those of them that select the clone too, with the way to it. */
  readonly hosts: readonly HostFacts[];
}

/** A service of the clone with all that decides about requests to it. */
export interface HostFacts extends FoundVirtualServices {
  readonly service: string;
  /** The full name of the service. */
  readonly host: string;
  /** Where the environment's rule is or should be. */
  readonly ruleRef: Required<Ref>;
  readonly rule: DestinationRule | undefined;
  /** Whether something else has the name of the rule. */
  readonly isRuleTaken: boolean;
  /** Rules of others for the host. */
  readonly otherRules: readonly DestinationRule[];
  /**
   * Rules of other namespaces that hold for the host: callers there go by them, and not by those of the service. That of
   * the mesh's root namespace only counts where there is no other.
   */
  readonly callersRules: readonly DestinationRule[];
}

export interface FactsOptions extends Partial<Pick<EnvironmentFacts, 'refusal' | 'routeRefusal'>> {
  /** False for an environment that goes: of that one, only what it has made is looked up. */
  readonly makes: boolean;
}

const nothing = (): undefined => undefined;

/** Looks up what concerns an environment. */
export function factsOf(
  view: Facts,
  env: DynamicEnv,
  owner: RouteOwner,
  settings: Settings,
  { makes, refusal = nothing, routeRefusal = nothing }: FactsOptions,
): EnvironmentFacts {
  const { subsets, consumers } = makes ? itemsOf(env) : { subsets: [], consumers: [] };
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
      (makes ? [...leading, ...edited] : []).map((each) => [keyOf(each.metadata), findRoots(view, each, settings)]),
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
    mountFailures: findMountFailures(view, pods),
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

/** What a subset asks of the routes to some hosts. */
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
