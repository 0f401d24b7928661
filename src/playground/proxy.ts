// Sends a request as the caller's Envoy sidecar would: by the rule that the routing model selects, with its faults,
// header changes, timeouts and retries. The workload that is reached answers in this process (workload.ts).
import { delay, parseDuration, systemClock } from '../kube/index.ts';
import type { Facts } from '../controller/index.ts';
import { routeLabel } from '../traffic/describe/decision-data.ts';
import { decisionLines, routerOf } from '../traffic/index.ts';
import type { Decision, Destination, HeaderStep, Request, Routed, Rule } from '../traffic/index.ts';
import type { PodAnswer } from './answer.ts';
import type { LiveFacts } from './live-facts.ts';
import { answeringPods } from './pods.ts';
import type { AnsweringPod } from './pods.ts';

export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The pod's answer; undefined if the proxy answered itself. */
  readonly answer?: PodAnswer;
  /** Whether the answer is an HTML page for a browser. */
  readonly isPage?: boolean;
  /** The body of the proxy's own answer. */
  readonly text?: string;
  /** The rule that was applied. */
  readonly route?: string;
  /** Why the proxy answered itself. */
  readonly reason?: string;
}

export interface ProxyOptions {
  readonly facts: LiveFacts;
  /** Lets a pod answer a request that reached it. */
  readonly answer: (by: AnsweringPod, request: Request, signal: AbortSignal) => Promise<Reply>;
  /** A number from 0 to 1, for weights and percentages. */
  readonly random: () => number;
}

/** Sends one request, and resolves with the caller's reply. Rejects when the signal aborts. */
export async function send(options: ProxyOptions, request: Request, signal: AbortSignal): Promise<Reply> {
  const { facts, random } = options;
  const choose = (known: Facts): Chosen => chosenIn(known, request, random);
  const chosen = await facts.read(readerOf(request), choose, signal);
  const { decision, destination } = chosen;
  const { rule } = decision;
  const route = rule && { route: routeOf(rule) };
  const happens = (percentage = 0): boolean => random() * 100 < percentage;
  const { delay: late, abort } = rule?.action.fault ?? {};
  if (late !== undefined && happens(late.percentage)) {
    await delay(systemClock, parseDuration(late.time) ?? 0, signal);
    signal.throwIfAborted();
  }
  const steps = destination?.responseHeaders ?? ('responseHeaders' in decision ? decision.responseHeaders : []);
  const finish = (reply: Reply): Reply => ({ ...route, ...reply, headers: withSteps(reply.headers, steps) });
  if (abort !== undefined && happens(abort.percentage)) {
    return finish(proxyReply(abort.status ?? 200, 'fault filter abort', decision));
  }
  if (decision.kind !== 'route') return finish(withoutDestination(decision, request));
  return finish(await sendTo(options, request, { ...chosen, decision }, signal));
}

interface Chosen<D extends Decision = Decision> {
  readonly decision: D;
  readonly destination: Destination | undefined;
  readonly pod: AnsweringPod | undefined;
}

/** The decision about a request, and the destination and pod that were picked at random. */
function chosenIn(facts: Facts, request: Request, random: () => number): Chosen {
  const decision = routerOf(facts).decide(request);
  const destination = decision.kind === 'route' ? byWeight(decision.destinations, random()) : undefined;
  const pods = destination?.workloads.flatMap((workload) => answeringPods(facts, workload)) ?? [];
  return { decision, destination, pod: pods[Math.floor(random() * pods.length)] };
}

function byWeight(destinations: readonly Destination[], share: number): Destination | undefined {
  let left = share * 100;
  return destinations.find(({ weight }) => (left -= weight) < 0) ?? destinations.at(-1);
}

/** One reader per caller and host: its compiled routes stay cached. */
function readerOf({ source, host, port }: Request): string {
  return JSON.stringify([source, host, port]);
}

/** Names a rule by its VirtualService and route. */
function routeOf(rule: Rule): string {
  const { virtualService, delegate, name } = rule;
  return virtualService === undefined ? `Service, ${name}` : `${delegate ?? virtualService}, ${routeLabel(rule)}`;
}

const NO_BODY = '';

/** Envoy's answer if the request goes to no destination. */
function withoutDestination(decision: Exclude<Decision, Routed>, { host, path }: Request): Reply {
  switch (decision.kind) {
    case 'redirect':
      return { status: decision.status, headers: { location: decision.location }, text: NO_BODY };
    case 'response': {
      const { status, reason, body = NO_BODY } = decision;
      if (reason === 'DirectResponse') {
        const isElsewhere = status === 201 || (status >= 300 && status < 400);
        const location = isElsewhere && { location: `http://${host}${path}` };
        return { status, headers: { ...textHeaders(body), ...location }, text: body };
      }
      // Status 0 means that the connection is refused; this connection exists, so answer 503.
      return proxyReply(status === 0 ? 503 : status, NO_BODY, decision);
    }
    case 'passthrough':
      return proxyReply(502, 'the playground calls nothing outside the cluster', decision);
  }
}

/** An answer of the proxy itself, with the reason. */
function proxyReply(status: number, text: string, decision: Decision): Reply {
  return { status, headers: textHeaders(text), text, reason: decisionLines(decision).join('; ') };
}

function textHeaders(text: string): Headers {
  return text === NO_BODY ? {} : { 'content-type': 'text/plain' };
}

async function sendTo(
  options: ProxyOptions,
  request: Request,
  { decision, destination, pod }: Chosen<Routed>,
  signal: AbortSignal,
): Promise<Reply> {
  if (destination === undefined || pod === undefined || destination.outcome !== 'Reached') {
    if (destination?.outcome === 'External') {
      return proxyReply(502, 'the playground calls nothing outside the cluster', decision);
    }
    const hasCluster = destination?.outcome === 'Reached' || destination?.outcome === 'NoEndpoints';
    return proxyReply(503, hasCluster ? 'no healthy upstream' : NO_BODY, decision);
  }
  const { authority, requestHeaders } = destination;
  const reached: Request = {
    ...request,
    path: decision.path,
    host: authority ?? request.host,
    headers: withSteps(request.headers ?? {}, requestHeaders),
  };
  const late = proxyReply(504, 'upstream request timeout', decision);
  const { attempts, on, perTryTimeout } = decision.retries;
  return within(decision.timeout, late, signal, async (inTime) => {
    for (let attempt = 0; ; attempt++) {
      const reply = await within(perTryTimeout, late, inTime, (inTry) => options.answer(pod, reached, inTry));
      if (attempt >= attempts || !isRetriable(reply.status, on)) return reply;
    }
  });
}

/** Runs a function with a timeout, if one is given; replies with `late` when it passes. */
async function within(
  duration: string | undefined,
  late: Reply,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Reply>,
): Promise<Reply> {
  const ms = duration === undefined ? 0 : (parseDuration(duration) ?? 0);
  if (ms === 0) return run(signal);
  const timeout = AbortSignal.timeout(ms);
  try {
    return await run(AbortSignal.any([signal, timeout]));
  } catch (error) {
    if (!timeout.aborted || signal.aborted) throw error;
    return late;
  }
}

/** Whether Envoy retries, by those conditions of `retryOn` that depend on the status. */
function isRetriable(status: number, on: string): boolean {
  return on.split(',').some((condition) => {
    switch (condition.trim()) {
      case '5xx':
        return status >= 500;
      case 'gateway-error':
        return status >= 502 && status <= 504;
      case 'retriable-4xx':
        return status === 409;
      default:
        return condition.trim() === String(status);
    }
  });
}

/** Headers after a route's changes. */
function withSteps(headers: Headers, steps: readonly HeaderStep[]): Headers {
  const changed = new Map(Object.entries(headers));
  for (const { op, name, value = '' } of steps) {
    const before = changed.get(name);
    if (op === 'remove') changed.delete(name);
    else changed.set(name, op === 'set' || before === undefined ? value : [before, value].flat());
  }
  return Object.fromEntries(changed);
}
