// Plans one subset or consumer: its clone, its rules, and what it wants of which VirtualServices.
import type { DynamicEnv, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { keyOf, own } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { buildClone, cloneProblem, cloneState, OverrideError } from './clone.ts';
import type { CloneState } from './clone.ts';
import { subsetHash } from './hash.ts';
import { fullHost, selects } from './hosts.ts';
import { messages } from './messages.ts';
import { belongsTo, cloneName, isRouteOfSubset, ruleName, statusKey } from './names.ts';
import { Deployment, DestinationRule } from './objects.ts';
import type { Service, VirtualService } from './objects.ts';
import { handles } from './routes.ts';
import type { Insertion } from './routes.ts';
import { baseRule, buildRule } from './rules.ts';
import type { Settings } from './settings.ts';
import { findServices, findVirtualServices } from './world.ts';

/** Errors by the part of the status that lists them. */
export interface ItemErrors {
  readonly deployment: string[];
  readonly destinationRule: string[];
  readonly virtualServices: string[];
  readonly subset: string[];
}

/** What one subset or consumer needs and how far it is. */
export interface Item {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  readonly steps: Step[];
  clone: ResourceStatus & { status: CloneState };
  /** Why the clone does not run. */
  problem: string | undefined;
  readonly hash: bigint;
  readonly rules: ResourceStatus[];
  /** VirtualServices that shall lead to the clone, with the services that they do it for. */
  readonly virtualServices: Map<string, { readonly service: VirtualService; readonly hosts: string[] }>;
  /** What of the routes is settled: put in, kept out until the clone runs, or left as they are because of an error. */
  routes: 'insert' | 'wait' | 'untouched';
  /** How long the routes still wait for the clone. */
  waitMs: number | undefined;
  readonly errors: ItemErrors;
  readonly warnings: string[];
  /** An error that the environment must not be called healthy with. */
  failed: boolean;
  notReady: boolean;
}

/** Plans one item. */
export function planItem(view: View, env: DynamicEnv, subset: Subset, consumer: boolean, settings: Settings): Item {
  const name = cloneName(env.metadata, subset);
  const clone = view.get(Deployment, { name, namespace: subset.namespace });
  const hash = subsetHash(subset);
  const item: Item = {
    key: statusKey(subset),
    subset,
    consumer,
    steps: [],
    clone: {
      name,
      namespace: subset.namespace,
      status: cloneState(clone, isUpdated(env, subset, consumer, clone, hash)),
    },
    problem: cloneProblem(clone),
    hash,
    rules: [],
    virtualServices: new Map(),
    routes: 'untouched',
    waitMs: undefined,
    errors: { deployment: [], destinationRule: [], virtualServices: [], subset: [] },
    warnings: [],
    failed: false,
    notReady: false,
  };
  const base = view.get(Deployment, subset);
  if (base === undefined) {
    fail(item, 'deployment', messages.noBaseDeployment(subset), true);
    if (clone === undefined) item.clone = { name: '', namespace: '', status: 'unknown' };
  } else if (planClone(env, item, base, clone, settings) && !consumer) {
    const services = findServices(view, base);
    const labels = base.spec.template.metadata?.labels ?? {};
    if (services.length === 0) fail(item, 'subset', messages.noService(subset.name, labels, subset.namespace));
    else planTraffic(view, env, item, base, clone, services, settings);
  }
  return item;
}

/** Whether a clone has been changed since it was made, or is about to be. */
function isUpdated(
  env: DynamicEnv,
  subset: Subset,
  consumer: boolean,
  clone: Deployment | undefined,
  hash: bigint,
): boolean {
  const statuses = consumer ? env.status?.consumersStatus : env.status?.subsetsStatus;
  const before = statuses?.[statusKey(subset)]?.hash;
  return (before !== undefined && BigInt(before) !== hash) || (clone?.metadata.generation ?? 1) > 1;
}

function fail(item: Item, part: keyof ItemErrors, message: string, notReady = false): void {
  item.errors[part].push(message);
  item.failed = true;
  item.notReady ||= notReady;
}

/** Whether the clone can be made. */
function planClone(
  env: DynamicEnv,
  item: Item,
  base: Deployment,
  clone: Deployment | undefined,
  settings: Settings,
): boolean {
  if (clone !== undefined && !belongsTo(env, clone)) {
    fail(item, 'deployment', messages.foreign('Deployment', item.clone), true);
    return false;
  }
  try {
    item.steps.push(own(Deployment, buildClone(env, item.subset, base, settings)));
  } catch (error) {
    if (!(error instanceof OverrideError)) throw error;
    fail(item, 'deployment', error.message);
    return false;
  }
  if (clone === undefined) item.clone.status = 'initializing';
  else if (item.clone.status === 'running' && hashDiffers(env, item)) item.clone.status = 'updating';
  return true;
}

function hashDiffers(env: DynamicEnv, { key, consumer, hash }: Item): boolean {
  const before = (consumer ? env.status?.consumersStatus : env.status?.subsetsStatus)?.[key]?.hash;
  return before !== undefined && BigInt(before) !== hash;
}

function planTraffic(
  view: View,
  env: DynamicEnv,
  item: Item,
  base: Deployment,
  clone: Deployment | undefined,
  services: readonly Service[],
  settings: Settings,
): void {
  const { subset } = item;
  warnOfUnselected(env, item, base, services, settings);
  const ruled = planRules(view, env, item, services, settings);
  if (ruled.size === 0) {
    if (item.errors.destinationRule.length === 0) {
      fail(item, 'destinationRule', messages.noDestinationRule(item.clone.name));
    }
    return;
  }
  const routed = findRoutes(view, item, services, settings);
  if (routed.size === 0) fail(item, 'virtualServices', messages.noVirtualService(item.clone.name, item.key));
  if (![...ruled].some((service) => routed.has(service))) {
    item.errors.subset.push(messages.noCommonHost());
    item.failed = true;
    item.notReady = true;
  }
  const inPlace = [...item.virtualServices.values()].some(({ service }) =>
    service.spec?.http?.some((route) => isRouteOfSubset(env.metadata, subset, route)),
  );
  item.waitMs = inPlace || item.clone.status === 'running' ? undefined : remaining(view, clone, settings);
  item.routes = item.waitMs === undefined ? 'insert' : 'wait';
}

/** How long routes still wait for a clone that does not run yet; undefined when they wait no longer. */
function remaining(view: View, clone: Deployment | undefined, settings: Settings): number | undefined {
  const created = Date.parse(clone?.metadata.creationTimestamp ?? '');
  const left = Number.isNaN(created) ? settings.routeAfterMs : created + settings.routeAfterMs - view.now();
  return left > 0 ? left : undefined;
}

/** A service that selects the base but can't select the clone leads nobody to it. */
function warnOfUnselected(
  env: DynamicEnv,
  item: Item,
  base: Deployment,
  services: readonly Service[],
  settings: Settings,
): void {
  const labels = buildClone(env, item.subset, base, settings).spec.template.metadata?.labels ?? {};
  for (const service of services) {
    if (selects(service, labels)) continue;
    item.warnings.push(
      `Service ${keyOf(service.metadata)} selects the base but not its clone: requests by way of it find no pod of the environment`,
    );
  }
}

/** Plans the rules, and returns the services that have one. */
function planRules(
  view: View,
  env: DynamicEnv,
  item: Item,
  services: readonly Service[],
  settings: Settings,
): ReadonlySet<string> {
  const { subset } = item;
  const ruled = new Set<string>();
  for (const { metadata } of services) {
    const ref = { name: ruleName(env.metadata, subset, metadata.name), namespace: subset.namespace };
    const existing = view.get(DestinationRule, ref);
    const candidates = view.index(DestinationRule, 'host', fullHost(metadata.name, subset.namespace));
    const base = baseRule(
      candidates.filter((rule) => !belongsTo(env, rule)),
      metadata.name,
      subset,
      settings,
    );
    if (existing !== undefined && !belongsTo(env, existing)) {
      fail(item, 'destinationRule', messages.foreign('DestinationRule', ref));
      item.rules.push({ ...ref, status: 'failed' });
      continue;
    }
    if (base !== undefined)
      item.steps.push(own(DestinationRule, buildRule(env, subset, metadata.name, base, settings)));
    if (base !== undefined || existing !== undefined) ruled.add(metadata.name);
    item.rules.push({ ...ref, status: ruled.has(metadata.name) ? 'running' : 'ignored-missing-destination-rule' });
  }
  return ruled;
}

/** Finds the VirtualServices to edit, and returns the services that have one. */
function findRoutes(view: View, item: Item, services: readonly Service[], settings: Settings): ReadonlySet<string> {
  const routed = new Set<string>();
  const missing = new Set<string>();
  for (const { metadata } of services) {
    const host = fullHost(metadata.name, item.subset.namespace);
    const found = findVirtualServices(view, host, (service) => handles(service, insertionOf(item, [host], settings)));
    for (const ref of found.missing) {
      if (missing.has(keyOf(ref))) continue;
      missing.add(keyOf(ref));
      item.errors.virtualServices.push(...messages.noDelegate(ref));
    }
    for (const service of found.services) {
      routed.add(metadata.name);
      const key = keyOf(service.metadata);
      const entry = item.virtualServices.get(key) ?? { service, hosts: [] };
      entry.hosts.push(host);
      item.virtualServices.set(key, entry);
    }
  }
  return routed;
}

/** What an item asks of the routes to some hosts. */
export function insertionOf({ subset }: Item, hosts: readonly string[], settings: Settings): Insertion {
  return { subset, hosts, defaultVersion: subset.defaultVersion || settings.defaultVersion };
}
