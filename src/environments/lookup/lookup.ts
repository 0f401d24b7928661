// Lookups of the objects that concern an environment, by the indexes of the tables.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Kind, KubeObject, Ref } from '../../kube/index.ts';
import type { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { isBeingCreated } from '../clone/start-failures.ts';
import type { PodEvent } from '../clone/start-failures.ts';
import { uniqueVersion } from '../names.ts';
import type { Deployment, HorizontalPodAutoscaler, Labels, Pod, Service } from '../objects.ts';
import { isCloneOf, isRuleOf } from '../identity/ownership.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { Settings } from '../settings.ts';
import {
  ANY,
  Autoscalers,
  ClonePods,
  delegatesOf,
  Deployments,
  DestinationRules,
  Environments,
  NOBODY,
  selectorEntry,
  Services,
  StartFailures,
} from '../tables.ts';
import { findBaseServices, findSeenServices, getSeenService } from './virtual-services.ts';

/** The services that select the pods of a Deployment, by name. */
export function findServices(view: Facts, base: Deployment): readonly Service[] {
  const labels = base.spec.template.metadata?.labels ?? {};
  return findSelecting(view, Services, base)
    .filter((service) => selects(service, labels))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** Whether a service selects pods with these labels. One without a selector selects nothing. */
export function selects(service: Service, labels: Labels): boolean {
  const selector = Object.entries(service.spec?.selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
}

/** Objects of a kind that may select the pods of a Deployment. */
export function findSelecting<T extends KubeObject>(view: Facts, kind: Kind<T>, base: Deployment): readonly T[] {
  const { namespace } = base.metadata;
  const labels = Object.entries(base.spec.template.metadata?.labels ?? {});
  const entries = labels.map(([key, value]) => selectorEntry(namespace, key, value));
  return [...entries, `${namespace} ${ANY}`].flatMap((entry) => view.index(kind, 'selector', entry));
}

/** Autoscalers that scale a Deployment. */
export function findAutoscalers(view: Facts, deployment: Ref): readonly HorizontalPodAutoscaler[] {
  return view.index(Autoscalers, 'scaled', keyOf(deployment));
}

/** The pods of a clone. */
export function findPods(view: Facts, clone: Deployment): readonly Pod[] {
  return view.index(ClonePods, 'deployment', keyOf(clone.metadata));
}

/** Events that say why containers are not created, of pods that are still being created. */
export function findStartFailures(view: Facts, pods: readonly Pod[]): readonly PodEvent[] {
  return pods
    .filter(isBeingCreated)
    .flatMap(({ metadata }) => StartFailures.flatMap((table) => view.index(table, 'pod', keyOf(metadata))));
}

/** VirtualServices that this environment has edited, wherever they are. */
export function findEdited(view: Facts, env: DynamicEnv, settings: Settings): readonly VirtualService[] {
  const found = [keyOf(env.metadata), `version ${uniqueVersion(env.metadata)}`].flatMap((entry) =>
    findSeenServices(view, env, 'environment', entry, settings),
  );
  return [...new Map(found.map((service) => [keyOf(service.metadata), service])).values()];
}

/** Other environments with the same version. */
export function findSameVersion(view: Facts, env: DynamicEnv): readonly DynamicEnv[] {
  return view
    .index(Environments, 'version', uniqueVersion(env.metadata))
    .filter((other) => keyOf(other.metadata) !== keyOf(env.metadata));
}

/** Clones and rules that were made for an environment. */
export interface Made {
  readonly clones: readonly Deployment[];
  readonly rules: readonly DestinationRule[];
}

/** All clones and rules that were made for an environment, needed or not. */
export function findMade(view: Facts, env: DynamicEnv, { taken }: RouteOwner): Made {
  const made = <T extends KubeObject>(kind: Kind<T>, isOurs: (env: DynamicEnv, object: T) => boolean): readonly T[] => {
    const unmarked = view.index(kind, 'environment', NOBODY);
    return [
      ...view.index(kind, 'environment', keyOf(env.metadata)),
      ...unmarked.filter(({ metadata }) => !taken.includes(metadata.namespace ?? '')),
    ].filter((object) => isOurs(env, object));
  };
  return { clones: made(Deployments, isCloneOf), rules: made(DestinationRules, isRuleOf) };
}

export interface FoundVirtualServices {
  /** VirtualServices with routes for the host, each followed by its delegates. */
  readonly virtualServices: readonly VirtualService[];
  /** Delegates that do not exist. */
  readonly missing: readonly { readonly name: string; readonly namespace: string }[];
  /** VirtualServices that also lead to the host and are not edited. */
  readonly skipped: readonly SkippedVirtualService[];
}

/** A VirtualService that is not edited, and its roots: itself, or those that delegate to it. */
interface SkippedVirtualService {
  readonly service: VirtualService;
  readonly roots: readonly VirtualService[];
}

/**
 * The VirtualServices that route requests to a host: those that list it, and their delegates; at a gateway also those
 * that lead there for any host, because requests for public names come in that way.
 */
export function findVirtualServices(
  view: Facts,
  env: DynamicEnv,
  host: string,
  hasRoutes: (service: VirtualService) => boolean,
  settings: Settings,
): FoundVirtualServices {
  const services = new Map<string, VirtualService>();
  const missing = new Map<string, { name: string; namespace: string }>();
  for (const root of findSeenServices(view, env, 'host', host, settings)) {
    if (hasRoutes(root)) services.set(keyOf(root.metadata), root);
    for (const ref of delegatesOf(root)) {
      const found = getSeenService(view, env.metadata, ref, settings);
      if (found === undefined) missing.set(keyOf(ref), ref);
      else services.set(keyOf(ref), found);
    }
  }
  const skipped: SkippedVirtualService[] = [];
  for (const service of findSeenServices(view, env, 'destination', host, settings)) {
    const key = keyOf(service.metadata);
    if (services.has(key)) continue;
    const isDelegate = (service.spec?.hosts ?? []).length === 0;
    const roots = isDelegate ? findBaseServices(view, 'delegate', key, settings) : [service];
    if (settings.gatewayRoutes && roots.some((root) => gatewaysOf(root).length > 0) && hasRoutes(service)) {
      services.set(key, service);
    } else skipped.push({ service, roots });
  }
  return { virtualServices: [...services.values()], missing: [...missing.values()], skipped };
}

/** The gateways that a VirtualService is bound to; none if it is for the mesh alone. */
export function gatewaysOf({ spec }: VirtualService): readonly string[] {
  return (spec?.gateways ?? []).filter((gateway) => gateway !== 'mesh');
}
