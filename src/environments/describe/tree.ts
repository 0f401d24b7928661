// The tree of an environment: subsets, and below each its clone, its rules, the VirtualServices and the routes in them,
// every part with its state and the reasons why it is not ready. `offshoot env describe` prints it.
import type {
  CloneStatus,
  ConsumerStatus,
  DynamicEnv,
  ResourceStatus,
  Subset,
  SubsetStatus,
} from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import { ownerOf } from '../identity/ownership.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import { itemsOf, statusKey } from '../names.ts';
import type { Deployment, Pod } from '../objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import { takerOf } from '../../traffic/istio/shadow.ts';
import { keyOf } from '../../kube/objects.ts';
import { messages } from '../status/messages.ts';
import { adviceFor } from './advice.ts';
import { exampleCalls } from './calls.ts';
import { formatRequests, formatRoute } from './matches.ts';
import { isolationProblem } from './isolation.ts';
import { partErrors, isCurrent, reasonOf, stateOf, errorTexts } from './state.ts';
import { exceptionsTo } from './taken.ts';
import type { Exception } from './taken.ts';
import { cloneRef } from './world.ts';
import type { EnvironmentWorld } from './world.ts';
import { recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { node } from '../../api/description/tree.ts';
import type { TreeNode } from '../../api/description/tree.ts';

export interface EnvironmentDescription {
  readonly environment: TreeNode;
  /** The requests that reach it. */
  readonly match: string;
  /** Requests that match, but go to other environments. */
  readonly exceptions: readonly Exception[];
  /** Commands that send such requests. */
  readonly call: readonly string[];
  /** When it expires. */
  readonly expiresAt?: string;
  readonly events: readonly RecentEvent[];
}

/** Describes an environment. */
export function describeEnvironment(world: EnvironmentWorld): EnvironmentDescription {
  const { env } = world;
  const { subsets, consumers } = itemsOf(env);
  return {
    environment: node('Environment', keyOf(env.metadata), stateOf(env), {
      reasons: environmentReasons(env),
      children: [
        ...subsets.map((subset) => subsetNode(world, subset)),
        ...consumers.map((consumer) => consumerNode(world, consumer)),
      ],
    }),
    match: formatRequests(env),
    exceptions: exceptionsTo(world),
    call: exampleCalls(world),
    ...(env.status?.expiresAt !== undefined && { expiresAt: env.status.expiresAt }),
    events: recentEvents(world.events),
  };
}

/** Reasons that the parts below do not give. */
function environmentReasons(env: DynamicEnv): string[] {
  if (env.metadata.deletionTimestamp !== undefined || !isCurrent(env)) return [reasonOf(env)!];
  const all = conditionsOf(env);
  // The subset says which environment takes its requests.
  const isShadowed = all.some(({ type, reason }) => type === 'Routed' && reason === 'Shadowed');
  const texts = all
    .filter(({ type, status, reason }) => {
      // Degraded only sums up the reasons of the parts below.
      if (type === 'Stalled') return status === 'True' && reason !== 'Degraded';
      // No other part says which routes conflict, or why none can be made.
      if (type === 'Routed' && ['RoutesMissing', 'RoutesIgnored'].includes(reason)) return true;
      if (type === 'Ready' && reason === 'Asleep') return true;
      return type === 'Paused' || (type === 'Conflicted' && !isShadowed) || reason.endsWith('WithWarnings');
    })
    .map(({ reason, message }) => (reason === 'RoutedWithWarnings' ? warningsIn(env, message) : message))
    .filter((message) => message !== '');
  return [...texts, ...adviceFor(env), ...[isolationProblem(env)].flatMap((text) => text ?? [])];
}

/** The message about routes without the errors that the parts below give; empty if nothing else is wrong. */
function warningsIn({ status }: DynamicEnv, message: string): string {
  const below = Object.values(status?.subsetsStatus ?? {}).flatMap((each) => partErrors(each, 'virtualServices'));
  const rest = below.reduce((text, error) => text.replace(`; ${error}`, () => ''), message);
  return rest === messages.hasRoutes ? '' : rest;
}

function subsetNode(world: EnvironmentWorld, subset: Subset): TreeNode {
  const key = statusKey(subset);
  const status = world.env.status?.subsetsStatus?.[key];
  const children = [
    cloneNode(world, subset, status?.deployment, partErrors(status, 'deployment')),
    ...ruleNodes(status, partErrors(status, 'destinationRule')),
    ...virtualServiceNodes(world, subset, status),
  ];
  const ofMatches = partErrors(status, 'virtualServices').filter(isAboutMatches);
  // If no route is left, the environment itself says it.
  const left = ofMatches.filter((error) => !status?.unreached?.includes(error));
  const reasons = [...left, ...partErrors(status, 'subset'), ...unreachedReasons(status)];
  return node('Subset', key, subsetState(status), { reasons, children });
}

function subsetState(status: SubsetStatus | undefined): string {
  if (status === undefined) return 'pending';
  if (Object.values(status.subsetErrors ?? {}).some((list) => (list ?? []).length > 0)) return 'degraded';
  if (status.deployment.status !== 'running') return status.deployment.status;
  if (isRouted(status)) return status.unreached === undefined ? 'running' : 'degraded';
  return 'processing';
}

/** Why requests do not reach a subset that has routes; without routes, the parts below say it. */
function unreachedReasons(status: SubsetStatus | undefined): string[] {
  return status?.unreached !== undefined && isRouted(status) ? [status.unreached] : [];
}

function isRouted({ virtualServices = [] }: SubsetStatus): boolean {
  return virtualServices.some((each) => each.status === 'running');
}

function consumerNode(world: EnvironmentWorld, consumer: Subset): TreeNode {
  const key = statusKey(consumer);
  const status: ConsumerStatus | undefined = world.env.status?.consumersStatus?.[key];
  const errors = errorTexts(status?.errors);
  const children = [cloneNode(world, consumer, status, errors)];
  return node('Consumer', key, errors.length > 0 ? 'degraded' : (status?.status ?? 'pending'), { children });
}

function cloneNode(
  world: EnvironmentWorld,
  subset: Subset,
  status: CloneStatus | undefined,
  errors: readonly string[],
): TreeNode {
  const ref = cloneRef(world.env, subset);
  const clone = world.clones.get(keyOf(ref));
  const pods = world.pods.get(keyOf(ref)) ?? [];
  const state = status?.name ? status.status : clone === undefined ? 'missing' : 'unknown';
  if (clone === undefined) return node('Deployment', keyOf(ref), state, { reasons: errors });
  const ready = clone.status?.readyReplicas;
  const replicas = clone.spec.replicas ?? 1;
  const detail = [`${ready ?? 0}/${replicas} pods ready`, ...imagesOf(clone, subset)].join(', ');
  const reasons =
    state === 'running' && (ready ?? 0) >= replicas ? [] : [...deploymentReasons(clone), ...pods.flatMap(podReasons)];
  // If the pods are up at the moment, the controller may know of a crash loop.
  const remembered = reasons.length === 0 && status?.message !== undefined ? [status.message] : [];
  return node('Deployment', keyOf(ref), state, { detail, reasons: [...errors, ...reasons, ...remembered] });
}

/** The images of the containers that the environment changes. */
function imagesOf({ spec }: Deployment, subset: Subset): string[] {
  const { containers = [], initContainers = [] } = spec.template.spec ?? {};
  const changed = new Set(
    [...(subset.containers ?? []), ...(subset.initContainers ?? [])].map((each) => each.containerName),
  );
  return [...initContainers, ...containers]
    .filter(({ name }) => changed.has(name))
    .map(({ name, image }) => `${name}=${image ?? ''}`);
}

function deploymentReasons({ status }: Deployment): string[] {
  return (status?.conditions ?? [])
    .filter(
      ({ type, status: is }) =>
        (type === 'ReplicaFailure' && is === 'True') ||
        ((type === 'Available' || type === 'Progressing') && is === 'False'),
    )
    .map(({ reason, message }) => [reason, message].filter(Boolean).join(': '));
}

function podReasons(pod: Pod): string[] {
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const unscheduled = conditions
    .filter(({ type, status }) => type === 'PodScheduled' && status === 'False')
    .map(({ reason, message }) => `pod ${pod.metadata.name}: ${[reason, message].filter(Boolean).join(': ')}`);
  const waiting = [...initContainerStatuses, ...containerStatuses].flatMap(
    ({ name, state, lastState, restartCount }) => {
      const { reason, message } = state?.waiting ?? {};
      // The container is starting, which is no problem.
      if (reason === undefined || reason === 'ContainerCreating' || reason === 'PodInitializing') return [];
      const { terminated } = lastState ?? {};
      const ended = terminated && `last exit code ${terminated.exitCode} (${terminated.reason})`;
      const restarts = restartCount ? `restarted ${restartCount}×` : undefined;
      const why = [message, ended, restarts].filter(Boolean).join(', ');
      return [`pod ${pod.metadata.name}, container ${name}: ${reason}${why && `: ${why}`}`];
    },
  );
  return [...unscheduled, ...waiting];
}

function ruleNodes(status: SubsetStatus | undefined, errors: readonly string[]): TreeNode[] {
  const rules = status?.destinationRules ?? [];
  const nodes = rules.map((rule) =>
    node('DestinationRule', keyOf(rule), STATE_WORDS[rule.status] ?? rule.status, { reasons: ruleReasons(rule) }),
  );
  return errors.length === 0
    ? nodes
    : [...nodes, node('DestinationRule', 'of the base', 'missing', { reasons: errors })];
}

/** Better words for states in the status that sound as if an object were missing. */
const STATE_WORDS: Readonly<Record<string, string>> = {
  'ignored-missing-destination-rule': 'not made',
  'ignored-missing-virtual-service': 'not routed',
};

function ruleReasons({ status }: ResourceStatus): string[] {
  return status === 'ignored-missing-destination-rule'
    ? ['no base DestinationRule declares the default version for this service']
    : [];
}

function virtualServiceNodes(world: EnvironmentWorld, subset: Subset, status: SubsetStatus | undefined): TreeNode[] {
  const nodes = (status?.virtualServices ?? []).map((ref) => virtualServiceNode(world, subset, status!, ref));
  const errors = partErrors(status, 'virtualServices').filter((error) => !isAboutMatches(error));
  return errors.length === 0
    ? nodes
    : [...nodes, node('VirtualService', 'of the base', 'missing', { reasons: errors })];
}

function virtualServiceNode(
  { env, virtualServices }: EnvironmentWorld,
  subset: Subset,
  status: SubsetStatus,
  ref: ResourceStatus,
): TreeNode {
  const key = keyOf(ref);
  if (ref.status === 'unknown') {
    return node('VirtualService', key, 'waiting', { reasons: [whyWaiting(status)] });
  }
  const service = virtualServices.get(key);
  const http = service?.spec?.http ?? [];
  const isOurs = (route: HttpRoute): boolean => isRouteOfSubset(ownerOf(env, []), subset, service!, route);
  const routes = http.flatMap((route, i) => {
    if (!isOurs(route)) return [];
    const taker = takerOf(
      http.slice(0, i).filter((each) => !isOurs(each)),
      route.match ?? [{}],
    );
    const state = taker?.isCertain ? 'shadowed' : status.unreached === undefined ? 'running' : 'degraded';
    return [node('Route', route.name ?? '', state, { detail: formatRoute(route) })];
  });
  const state = routes.some((each) => each.state === 'running') ? undefined : routes[0]?.state;
  const reasons = ref.status === 'ignored-missing-virtual-service' ? whyIgnored(env, status, key) : [];
  return node('VirtualService', key, state ?? STATE_WORDS[ref.status] ?? ref.status, { reasons, children: routes });
}

/** What the routes wait for. The controller knows for how long; without a word from it, the state of the clone tells. */
function whyWaiting({ deployment, unreached }: SubsetStatus): string {
  if (unreached?.startsWith('not routed')) return unreached;
  return deployment.status === 'running'
    ? 'routes are added once proxies have picked up its rule and pods'
    : 'routes wait for the clone';
}

/** Why a VirtualService that leads to the workload has no route to the environment. */
function whyIgnored(env: DynamicEnv, { unreached = '' }: SubsetStatus, key: string): string[] {
  const routed = conditionsOf(env).find(({ type }) => type === 'Routed');
  const about = (routed?.message ?? '').split('; ').filter((text) => text.startsWith(`VirtualService ${key}`));
  // A reason that applies to all of them is given above.
  if (about.length > 0 || unreached.includes('istioMatches[')) return about;
  return ['none of its routes goes to the default version'];
}

/** Whether an error is about the matches in the spec. */
function isAboutMatches(error: string): boolean {
  return error.startsWith('istioMatches[');
}
