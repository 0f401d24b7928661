// Decides what to do about each subset and consumer of an environment, from top to bottom: its clone, the services that
// select it, its rules, and the VirtualServices that should have routes to it. Pure, and without a clock: what must
// wait carries the time until which it waits.
import type { ResourceStatus } from '../api/dynamicenv.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import { hasRefusedPart, refusedHeaders, refusedParts, unusable } from '../traffic/istio/unusable.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import { keyOf } from '../kube/index.ts';
import { jsonEqual } from '../watchable/index.ts';
import { buildClone, leaveReplicasToAutoscaler, OverrideError } from './clone/clone.ts';
import {
  availableSince,
  cloneLoop,
  cloneProblem,
  cloneState,
  isAvailable,
  isOutdated,
  unavailableSince,
  keepLongerMessage,
} from './clone/clone-state.ts';
import type { Action, Decision, Entrance, RoutedHost, WorkloadError } from './decision.ts';
import { insertionOf } from './facts.ts';
import type { EnvironmentFacts, HostFacts, WorkloadFacts } from './facts.ts';
import { subsetHash } from './clone/hash.ts';
import { isAsleep, isScaledDown } from './lifecycle/sleep.ts';
import { isPaused } from './lifecycle/paused.ts';
import { skippedRoutes } from './routes/skipped-routes.ts';
import { matchTitle } from './requests/matches.ts';
import { messages } from './status/messages.ts';
import { Deployment } from './objects.ts';
import { baseProblem } from './identity/ownership.ts';
import type { ReasonOf } from './reasons.ts';
import { isRouteOf, isRouteOfSubset } from '../traffic/istio/inserted-routes.ts';
import { baseRule, buildRule } from './rules.ts';
import type { Settings } from './settings.ts';
import { sharedSelectors } from './clone/shared-selectors.ts';

/** The decisions about all subsets and consumers. */
export function decide(facts: EnvironmentFacts, settings: Settings): readonly Decision[] {
  return facts.workloads.map((workload) => decideWorkload(facts, workload, settings));
}

/** What is found about a workload on the way to a decision. */
interface Findings {
  readonly errors?: readonly WorkloadError[];
  readonly routeWarnings?: readonly string[];
  readonly unanswered?: string | undefined;
  readonly ruleStatuses?: readonly ResourceStatus[];
}

function decideWorkload(facts: EnvironmentFacts, workload: WorkloadFacts, settings: Settings): Decision {
  const { env } = facts;
  const { key, subset, consumer, base, clone } = workload;
  const { status } = env;
  const before = (consumer ? status?.consumersStatus : status?.subsetsStatus)?.[key]?.hash;
  const hash = before === undefined ? undefined : BigInt(before);
  const isChanged = hash !== undefined && hash !== subsetHash(subset);
  const problem = keepLongerMessage(env, key, cloneProblem(clone, workload.pods, workload.startFailures));
  const state = cloneState(clone, isChanged || (clone?.metadata.generation ?? 1) > 1);
  const isKnown = clone !== undefined || base !== undefined;
  const shouldSleep = isAsleep(env) && !isPaused(env);
  const answers = !isKnown || isAvailable(clone, state, workload.pods) ? undefined : messages.noPod(problem);

  const ofClone = isPaused(env) ? keepAsIs(clone) : decideClone(facts, workload, settings);
  const made = { hash: subsetHash(subset), state: madeState(clone, state, { isChanged, isAsleep: shouldSleep }) };
  const routing =
    ofClone.action === 'clone' && !consumer
      ? decideRouting(facts, workload, ofClone.clone, made.state === 'running' && answers === undefined, settings)
      : ofClone;
  const isMade = routing.action === 'clone' || routing.action === 'route';
  // The rules that an undecided workload should have are not known; those in its status are reported.
  const isUndecided = routing.action === 'replace' || (clone !== undefined && routing.action !== 'route');
  const ruleStatuses = routing.findings.ruleStatuses ?? [];
  const reported = isMade ? made : { hash, state: routing.action === 'replace' ? ('updating' as const) : state };
  const isHeldBack = isPaused(env) && isChanged && state === 'running';
  const isUnready = reported.state === 'running' && answers !== undefined;
  const shown =
    problem ??
    (isHeldBack
      ? { reason: 'Paused' satisfies ReasonOf<'WorkloadsReady'>, message: messages.changeHeldBack }
      : isUnready
        ? { reason: 'NoPodReady' satisfies ReasonOf<'WorkloadsReady'>, message: answers }
        : undefined);
  const { findings, ...action } = routing;
  return {
    ...action,
    key,
    subset,
    consumer,
    isAsleep: shouldSleep,
    live: clone,
    cloneStatus: isKnown
      ? { ...workload.ref, status: reported.state, ...(shown && { message: shown.message }) }
      : { name: '', namespace: '', status: 'unknown' },
    problem: shown,
    loop: problem === undefined ? cloneLoop(clone, workload.pods) : undefined,
    hash: reported.hash,
    ruleStatuses: isUndecided && ruleStatuses.length === 0 ? workload.knownRules : ruleStatuses,
    unanswered: findings.unanswered ?? answers,
    errors: [
      ...(consumer ? [] : refusedMatches(facts)),
      ...(findings.errors ?? []),
      ...(workload.isRepeated ? [failure(consumer ? 'deployment' : 'subset', messages.duplicate(key), true)] : []),
    ],
    routeWarnings: findings.routeWarnings ?? [],
    workloadWarnings: warningsAbout(workload, routing),
  };
}

/** Warnings about a clone that is made, or kept as it is. */
function warningsAbout(workload: WorkloadFacts, made: Action): readonly string[] {
  const clone = made.action === 'clone' || made.action === 'route' ? made.clone : workload.clone;
  return clone === undefined || workload.base === undefined ? [] : sharedSelectors(workload, workload.base, clone);
}

function madeState(
  clone: Deployment | undefined,
  state: Decision['cloneStatus']['status'],
  { isChanged, isAsleep: shouldSleep }: { readonly isChanged: boolean; readonly isAsleep: boolean },
) {
  if (clone === undefined) return 'initializing';
  return (state === 'running' && isChanged) || (state === 'asleep' && !shouldSleep) ? 'updating' : state;
}

function failure(list: WorkloadError['list'], message: string, notReady = false): WorkloadError {
  return { list, message, severity: notReady ? 'not-ready' : 'failure' };
}

/** A match that a proxy or Istio would reject gets no route: it would block all route updates, even those of others. */
function refusedMatches({ env, edited, owner }: EnvironmentFacts): readonly WorkloadError[] {
  const isLeft = (service: VirtualService): boolean =>
    (service.spec?.http ?? []).some((route) => isRouteOf(owner, service, route) && hasRefusedPart(route));
  // Nothing is removed while an environment is paused.
  const left = isPaused(env) ? edited.filter(isLeft).map(({ metadata }) => keyOf(metadata)) : [];
  return (env.spec?.istioMatches ?? []).flatMap((match, i) => {
    if (refusedParts(match).length === 0) return [];
    const by = refusedHeaders(match).length > 0 ? 'proxies' : 'Istio';
    const [title, why] = [matchTitle(env.spec, i), unusable(match)!];
    return failure(
      'virtualServices',
      left.length > 0 ? messages.leftIn(title, by, why, left) : messages.leftOut(title, why),
    );
  });
}

type Found<A extends Action['action'] = Action['action']> = Extract<Action, { action: A }> & {
  readonly findings: Findings;
};

/** Leaves the clone as it is. */
function keepAsIs(clone: Deployment | undefined, findings: Findings = {}): Found<'keep' | 'none'> {
  return { action: clone === undefined ? 'none' : 'keep', findings };
}

/** Decides about the clone. */
function decideClone(
  { env, refusal }: EnvironmentFacts,
  { subset, base, clone, ref, isTaken, autoscalers }: WorkloadFacts,
  settings: Settings,
): Found<'keep' | 'none' | 'replace' | 'clone'> {
  const stop = (message: string, notReady = false): Found<'keep' | 'none'> =>
    keepAsIs(clone, { errors: [failure('deployment', message, notReady)] });
  // The webhook refuses it; without the webhook, the clone is kept as it is.
  if (subset.replicas === 0) return stop(messages.noReplicas(subset), true);
  if (base === undefined) return stop(messages.noBaseDeployment(subset), true);
  const problem = baseProblem(base);
  if (problem !== undefined) return stop(problem, true);
  if (isTaken) return stop(messages.foreign('Deployment', ref), true);
  let desired: Deployment;
  try {
    desired = buildClone(env, subset, base, settings, clone);
  } catch (error) {
    if (!(error instanceof OverrideError)) throw error;
    return stop(error.message);
  }
  const refused = refusal(Deployment, ref);
  if (refused !== undefined) return stop(clone === undefined ? refused : messages.cloneNotUpdated(ref.name, refused));
  // The selector of a Deployment is immutable: an outdated clone is deleted first, and its routes before that.
  if (clone !== undefined && !jsonEqual(clone.spec.selector, desired.spec.selector)) {
    return { action: 'replace', findings: {} };
  }
  return { action: 'clone', clone: leaveReplicasToAutoscaler(desired, clone, autoscalers), rules: [], findings: {} };
}

/** Decides how requests reach a clone that exists or is being created. */
function decideRouting(
  facts: EnvironmentFacts,
  workload: WorkloadFacts,
  clone: Deployment,
  isRunning: boolean,
  settings: Settings,
): Found<'clone' | 'route'> {
  const services = decideServices(workload);
  if (workload.hosts.length === 0) return { action: 'clone', clone, rules: [], findings: services };
  const decided = decideRules(facts, workload, settings);
  const findings = { ...services, errors: [...services.errors, ...decided.errors], ruleStatuses: decided.statuses };
  const { rules } = decided;
  if (decided.ruled.size === 0) return { action: 'clone', clone, rules, findings };
  if (isAsleep(facts.env)) return { action: 'route', clone, rules, entrances: new Map(), findings };
  const routes = decideRoutes(facts, workload, decided.ruled, settings);
  const startsAt = routes.inPlace || isRunning ? undefined : startOf(workload.clone, settings);
  return {
    action: 'route',
    clone,
    rules,
    entrances: routes.entrances,
    ...(startsAt !== undefined && { startsAt }),
    findings: {
      ...findings,
      unanswered: routes.unanswered ?? findings.unanswered,
      errors: [...findings.errors, ...routes.errors],
      routeWarnings: [...findings.routeWarnings, ...routes.warnings],
    },
  };
}

interface FoundServices {
  readonly errors: readonly WorkloadError[];
  readonly routeWarnings: readonly string[];
  readonly unanswered: string | undefined;
}

/** The services by which requests can reach the clone. A service that selects only the base does not. */
function decideServices({ subset, base, services, hosts }: WorkloadFacts): FoundServices {
  const nobody = 'no service selects the pods of the clone';
  const none = { unanswered: nobody, routeWarnings: [] };
  if (services.length === 0) {
    const labels = base!.spec.template.metadata?.labels ?? {};
    return { ...none, errors: [failure('subset', messages.noService(subset.name, labels, subset.namespace))] };
  }
  if (hosts.length === 0) {
    const names = services.map(({ metadata }) => keyOf(metadata));
    return { ...none, errors: [failure('subset', messages.noServiceOfClone(names), true)] };
  }
  const others = services.filter(({ metadata }) => !hosts.some(({ service }) => service === metadata.name));
  const routeWarnings = others.map(({ metadata }) => messages.serviceOfBaseOnly(keyOf(metadata)));
  return { unanswered: undefined, errors: [], routeWarnings };
}

interface DecidedRules {
  readonly rules: readonly DestinationRule[];
  /** By service: the existing rule; undefined for one that is created now. */
  readonly ruled: ReadonlyMap<string, DestinationRule | undefined>;
  readonly statuses: readonly ResourceStatus[];
  readonly errors: readonly WorkloadError[];
}

/** A rule for each service whose base rule declares the default version. */
function decideRules({ env, refusal }: EnvironmentFacts, workload: WorkloadFacts, settings: Settings): DecidedRules {
  const { subset, ref } = workload;
  const rules: DestinationRule[] = [];
  const ruled = new Map<string, DestinationRule | undefined>();
  const statuses: ResourceStatus[] = [];
  const errors: WorkloadError[] = [];
  for (const { service, ruleRef, rule, isRuleTaken, otherRules } of workload.hosts) {
    if (isRuleTaken) {
      errors.push(failure('destinationRule', messages.foreign('DestinationRule', ruleRef)));
      statuses.push({ ...ruleRef, status: 'failed' });
      continue;
    }
    const base = baseRule(otherRules, service, subset, settings);
    const refused = refusal(DestinationRule, ruleRef);
    if (refused !== undefined) {
      const message =
        rule === undefined
          ? messages.ruleNotMade(service, ref.name, ruleRef.name, refused)
          : messages.ruleNotUpdated(service, refused);
      errors.push(failure('destinationRule', message));
    } else if (base !== undefined) rules.push(buildRule(env, subset, service, base, settings));
    const isRuled = rule !== undefined || (base !== undefined && refused === undefined);
    if (isRuled) ruled.set(service, rule);
    const without = refused === undefined ? 'ignored-missing-destination-rule' : 'missing';
    statuses.push({ ...ruleRef, status: isRuled ? 'running' : without });
  }
  if (ruled.size === 0 && errors.length === 0) {
    errors.push(failure('destinationRule', messages.noDestinationRule(ref.name)));
  }
  return { rules, ruled, statuses, errors };
}

interface DecidedRoutes {
  readonly entrances: ReadonlyMap<string, Entrance>;
  /** Whether some route already leads to the clone: then no route waits for it to start. */
  readonly inPlace: boolean;
  readonly unanswered: string | undefined;
  readonly errors: readonly WorkloadError[];
  readonly warnings: readonly string[];
}

/** The VirtualServices that should lead to the clone, those of each service in turn. */
function decideRoutes(
  { env, owner, routeRefusal }: EnvironmentFacts,
  { key, subset, ref, hosts, clone }: WorkloadFacts,
  ruled: DecidedRules['ruled'],
  settings: Settings,
): DecidedRoutes {
  const leads = (service: VirtualService, host?: string): boolean =>
    service.spec?.http?.some(
      (route) =>
        isRouteOfSubset(owner, subset, service, route) &&
        (host === undefined ||
          route.route?.some(
            (each) => resolveHost(each.destination?.host ?? '', service, settings.clusterDomain) === host,
          )),
    ) ?? false;

  const missing = new Map(hosts.flatMap((each) => each.missing).map((delegate) => [keyOf(delegate), delegate]));
  const notices = [...missing.values()].flatMap(messages.noDelegate);
  const refused = new Set<VirtualService>();
  for (const service of new Set(hosts.flatMap(({ virtualServices }) => virtualServices))) {
    const why = routeRefusal(keyOf(service.metadata));
    if (why === undefined) continue;
    notices.push(messages.routesNotUpdated(ref.name, keyOf(service.metadata), why));
    if (!leads(service)) refused.add(service);
  }
  const isActive = ({ virtualServices }: HostFacts): boolean => virtualServices.some((each) => !refused.has(each));
  const common = hosts.filter((each) => ruled.has(each.service) && each.virtualServices.length > 0);
  const errors: readonly WorkloadError[] = [
    ...notices.map((message) => ({ list: 'virtualServices', message, severity: 'notice' }) as const),
    ...(hosts.some(isActive) ? [] : [failure('virtualServices', messages.noVirtualService(ref.name, key), true)]),
    ...(common.some(isActive) ? [] : [failure('subset', messages.noCommonHost(), true)]),
  ];

  // Requests to a host without a rule fail. Such routes are written only if no host has both: users expect to see them.
  const entrances = new Map<string, Entrance & { readonly hosts: RoutedHost[] }>();
  for (const { service: name, host, virtualServices } of common.length > 0 ? common : hosts) {
    const settledAt = ruled.has(name) ? settledBy(ruled.get(name), clone, settings) : undefined;
    for (const service of virtualServices) {
      const entrance = entrances.get(keyOf(service.metadata)) ?? { service, hosts: [] };
      // A rule that was deleted and recreated must not remove an existing route.
      const isSettled = settledAt === undefined || leads(service, host);
      entrance.hosts.push({ host, ...(!isSettled && { settledAt }) });
      entrances.set(keyOf(service.metadata), entrance);
    }
  }
  const hostsIn = ({ metadata }: VirtualService): readonly string[] =>
    (entrances.get(keyOf(metadata))?.hosts ?? []).map(({ host }) => host);
  const found = hosts.map((each) => ({ ...each, ruled: ruled.has(each.service) }));
  return {
    entrances,
    inPlace: [...entrances.values()].some(({ service }) => leads(service)),
    unanswered: common.length === 0 ? 'no DestinationRule declares its version for the host' : undefined,
    errors,
    warnings: [
      ...skippedRoutes(found, (service) => insertionOf(env, subset, hostsIn(service), settings)),
      ...hosts.flatMap((each) => ruledByCallers(each, owner.version)),
    ],
  };
}

/** Warns about namespaces whose own rules hide those of the environment from their pods. */
function ruledByCallers({ host, callersRules }: HostFacts, version: string): readonly string[] {
  const rules = callersRules.filter(({ spec }) => !spec?.subsets?.some(({ name }) => name === version));
  return rules.map((rule) => messages.ruledByCallers(rule, host, version));
}

/**
 * When proxies know a rule and the pods that it leads to, counted from when both exist; undefined if only the existence
 * of the rule is waited for.
 */
function settledBy(
  rule: DestinationRule | undefined,
  clone: Deployment | undefined,
  { settleMs }: Settings,
): number | undefined {
  if (rule === undefined) return Infinity;
  if (settleMs === 0) return undefined;
  // Times of objects are whole seconds. An unknown time counts as long ago.
  const made = Date.parse(rule.metadata.creationTimestamp ?? '') || 0;
  return Math.max(made, availableSince(clone)) + settleMs + 1_000;
}

/** When routes no longer wait for a clone that does not run yet. */
function startOf(clone: Deployment | undefined, { routeAfterMs }: Settings): number {
  if (clone === undefined) return Infinity;
  // For a clone that is just being woken, it is not known yet since when it has no pods.
  if (routeAfterMs > 0 && (isScaledDown(clone) || isOutdated(clone))) return Infinity;
  const created = Date.parse(clone.metadata.creationTimestamp ?? '');
  return Number.isNaN(created) ? Infinity : Math.max(created, unavailableSince(clone)) + routeAfterMs;
}
