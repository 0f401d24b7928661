// Plans how requests reach the clone of a subset: which services lead to it, its rules, and what it wants of which
// VirtualServices.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { keyOf, own } from '../kube/index.ts';
import type { Ref } from '../kube/index.ts';
import { clonePodLabels } from './clone.ts';
import { fullHost, resolveHost } from '../traffic/istio/hosts.ts';
import { fail } from './decision.ts';
import type { Item } from './decision.ts';
import { leftAlone } from './left-alone.ts';
import { isRouteOfSubset, isRuleOf, WATCH_ANNOTATION } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { messages } from './messages.ts';
import { ruleName } from './names.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import type { Deployment, Service } from './objects.ts';
import type { RouteDestination } from '../traffic/istio/objects.ts';
import { handles } from './routes.ts';
import type { Insertion } from './routes.ts';
import { baseRule, buildRule } from './rules.ts';
import { selects } from './services.ts';
import type { Settings } from './settings.ts';
import { findServices, findVirtualServices } from './lookup.ts';

/** Plans the way to a clone that is there or in the making. */
export function planReach(
  view: View,
  env: DynamicEnv,
  owner: Owner,
  item: Item,
  base: Deployment,
  clone: Deployment | undefined,
  settings: Settings,
): void {
  const { subset } = item;
  const services = findServicesOfClone(view, env, item, base, settings);
  if (services.length === 0) return;
  const ruled = planRules(view, env, item, services, settings);
  if (ruled.size === 0) {
    if (item.errors.destinationRule.length === 0) {
      fail(item, 'destinationRule', messages.noDestinationRule(item.clone.name));
    }
    return;
  }
  const meant = ({ destination }: RouteDestination, service: VirtualService): string =>
    resolveHost(destination?.host ?? '', service, settings.clusterDomain);
  const leads = (service: VirtualService, host?: string): boolean =>
    service.spec?.http?.some(
      (route) =>
        isRouteOfSubset(owner, subset, service, route) &&
        (host === undefined || route.route?.some((each) => meant(each, service) === host)),
    ) ?? false;
  const settling = findRoutes(view, item, services, ruled, leads, settings);
  const entries = [...item.virtualServices.values()];
  const inPlace = entries.some(({ service }) => leads(service));
  const starting = inPlace || item.clone.status === 'running' ? undefined : remaining(view, clone, settings);
  const allSettle = settling !== undefined && entries.every(({ hosts }) => hosts.length === 0);
  item.waitMs = starting ?? settling;
  item.routes = starting !== undefined || allSettle ? 'wait' : 'insert';
}

/** Clocks of two machines may differ by this much. */
const MOST_SKEW_MS = 5_000;

/** How long routes still wait for proxies to know a rule, from its creation on; undefined when they wait no longer. */
function settlingTime(view: View, rule: DestinationRule | undefined, { settleMs }: Settings): number | undefined {
  if (settleMs === 0) return undefined;
  // Times of objects are whole seconds.
  const longest = settleMs + 1_000;
  if (rule === undefined) return longest;
  // A time that is not known is long ago. One to come is that of a clock that goes wrong: nobody waits for hours.
  const left = Date.parse(rule.metadata.creationTimestamp ?? '') + longest - view.now();
  return left > 0 && left <= longest + MOST_SKEW_MS ? left : undefined;
}

/** How long routes still wait for a clone that does not run yet; undefined when they wait no longer. */
function remaining(view: View, clone: Deployment | undefined, settings: Settings): number | undefined {
  const created = Date.parse(clone?.metadata.creationTimestamp ?? '');
  const left = Number.isNaN(created) ? settings.routeAfterMs : created + settings.routeAfterMs - view.now();
  return left > 0 ? left : undefined;
}

/** The services by which requests can reach the clone. One that selects only the base leads to no pod of it. */
function findServicesOfClone(
  view: View,
  env: DynamicEnv,
  item: Item,
  base: Deployment,
  settings: Settings,
): readonly Service[] {
  const { subset } = item;
  const ofBase = findServices(view, base);
  const labels = clonePodLabels(env, subset, base, settings);
  const ofClone = ofBase.filter((service) => selects(service, labels));
  if (ofClone.length === 0) item.unanswered = 'no service selects the pods of the clone';
  if (ofBase.length === 0) {
    const sought = base.spec.template.metadata?.labels ?? {};
    fail(item, 'subset', messages.noService(subset.name, sought, subset.namespace));
  } else if (ofClone.length === 0) {
    fail(item, 'subset', messages.noServiceOfClone(ofBase.map(({ metadata }) => keyOf(metadata))), true);
  } else {
    const others = ofBase.filter((service) => !ofClone.includes(service));
    item.warnings.push(...others.map(({ metadata }) => messages.serviceOfBaseOnly(keyOf(metadata))));
  }
  return ofClone;
}

/** Plans the rules, and returns those that there are by service; undefined for one that is made now. */
function planRules(
  view: View,
  env: DynamicEnv,
  item: Item,
  services: readonly Service[],
  settings: Settings,
): ReadonlyMap<string, DestinationRule | undefined> {
  const { subset } = item;
  const ruled = new Map<string, DestinationRule | undefined>();
  for (const { metadata } of services) {
    const ref = { name: ruleName(env.metadata, subset, metadata.name), namespace: subset.namespace };
    const existing = view.get(DestinationRule, ref);
    if (existing !== undefined && !isRuleOf(env, existing)) {
      fail(item, 'destinationRule', messages.foreign('DestinationRule', ref));
      item.rules.push({ ...ref, status: 'failed' });
      continue;
    }
    const candidates = view.index(
      DestinationRule,
      'host',
      fullHost(metadata.name, subset.namespace, settings.clusterDomain),
    );
    const others = candidates.filter((rule) => !isRuleOf(env, rule));
    const base = baseRule(others, metadata.name, subset, settings);
    const refusal = view.refusal(DestinationRule, ref);
    if (refusal !== undefined) fail(item, 'destinationRule', ruleRefused(item, metadata.name, ref, existing, refusal));
    else if (base !== undefined) {
      const rule = buildRule(env, subset, metadata.name, base, settings);
      item.steps.push(own(DestinationRule, rule, { heirBy: WATCH_ANNOTATION }));
    }
    if (existing !== undefined || (base !== undefined && refusal === undefined)) ruled.set(metadata.name, existing);
    const without = refusal === undefined ? 'ignored-missing-destination-rule' : 'missing';
    item.rules.push({ ...ref, status: ruled.has(metadata.name) ? 'running' : without });
  }
  return ruled;
}

function ruleRefused(item: Item, service: string, rule: Ref, existing: unknown, refusal: string): string {
  return existing === undefined
    ? messages.ruleNotMade(service, item.clone.name, rule.name, refusal)
    : messages.ruleNotUpdated(service, refusal);
}

/** Finds the VirtualServices to edit, those of each service in turn; returns how long the first of them still waits. */
function findRoutes(
  view: View,
  item: Item,
  services: readonly Service[],
  ruled: ReadonlyMap<string, DestinationRule | undefined>,
  leads: (service: VirtualService, host?: string) => boolean,
  settings: Settings,
): number | undefined {
  const found = services.map(({ metadata: { name } }) => {
    const host = fullHost(name, item.subset.namespace, settings.clusterDomain);
    const hasRoutes = (service: VirtualService): boolean => handles(service, insertionOf(item, [host], settings));
    return { name, host, ruled: ruled.has(name), ...findVirtualServices(view, host, hasRoutes, settings) };
  });
  const missing = new Map(found.flatMap((each) => each.missing).map((ref) => [keyOf(ref), ref]));
  for (const ref of missing.values()) item.errors.virtualServices.push(...messages.noDelegate(ref));
  const refused = new Set<VirtualService>();
  for (const service of new Set(found.flatMap(({ virtualServices }) => virtualServices))) {
    const refusal = view.refusal(VirtualService, service.metadata);
    if (refusal === undefined) continue;
    item.errors.virtualServices.push(messages.routesNotUpdated(item.clone.name, keyOf(service.metadata), refusal));
    if (!leads(service)) refused.add(service);
  }
  const isActive = ({ virtualServices }: (typeof found)[number]): boolean =>
    virtualServices.some((service) => !refused.has(service));
  if (!found.some(isActive)) fail(item, 'virtualServices', messages.noVirtualService(item.clone.name, item.key), true);
  const common = found.filter((each) => each.ruled && each.virtualServices.length > 0);
  if (common.length === 0) item.unanswered = 'no DestinationRule declares its version for the host';
  if (!common.some(isActive)) fail(item, 'subset', messages.noCommonHost(), true);
  // A route to a host without a rule answers with errors. Only where no host has both, people expect to see it.
  const waits: number[] = [];
  for (const { name, host, virtualServices } of common.length > 0 ? common : found) {
    const waitMs = ruled.has(name) ? settlingTime(view, ruled.get(name), settings) : undefined;
    for (const service of virtualServices) {
      const key = keyOf(service.metadata);
      const entry = item.virtualServices.get(key) ?? { service, hosts: [], settling: [] };
      // A rule that was lost and made anew is no reason to take away a route that is there.
      const isSettled = waitMs === undefined || leads(service, host);
      (isSettled ? entry.hosts : entry.settling).push(host);
      if (!isSettled) waits.push(waitMs);
      item.virtualServices.set(key, entry);
    }
  }
  const hostsIn = ({ metadata }: VirtualService): readonly string[] => {
    const { hosts = [], settling = [] } = item.virtualServices.get(keyOf(metadata)) ?? {};
    return [...hosts, ...settling];
  };
  item.warnings.push(...leftAlone(found, (service) => insertionOf(item, hostsIn(service), settings)));
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** What an item asks of the routes to some hosts. */
export function insertionOf({ subset }: Item, hosts: readonly string[], settings: Settings): Insertion {
  const { clusterDomain } = settings;
  return { subset, hosts, defaultVersion: subset.defaultVersion || settings.defaultVersion, clusterDomain };
}
