// What the simulated kubelet says about a pod: a pure function of the pod and the time. The kubelet of the embedded
// cluster (kubelet.ts) calls it, and so does the stand-in that runs pods on a real control plane in tests.
//
// The pod annotation `offshoot.dev/simulate` asks for another behaviour than "runs and is ready at once":
//   pending           never starts: its containers stay in ContainerCreating
//   slow=<duration>   starts after that time (`500ms`, `3s`, `2m`), then runs and is ready
//   no-image          never starts: its images can't be pulled, ImagePullBackOff
//   never-ready       runs, but no readiness probe ever succeeds
//   crash             its containers end with exit code 1 again and again: CrashLoopBackOff
//   crash=<duration>  the same, and each time they run and are ready for so long before they end
//   fail              ends at once in phase Failed, with exit code 1
//   run               runs on, also where it would end by itself
// Without it, a pod that runs to its end succeeds (of a Job, or of nobody and never restarted), and every other pod runs.
import { timestamp } from '../../kube/times.ts';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../kube/objects.ts';

const simulateAnnotation = 'offshoot.dev/simulate';

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
}

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  /** May be missing where somebody else wrote the status. */
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface Waiting {
  readonly reason: string;
  readonly message?: string;
}

interface ContainerState {
  readonly waiting?: Waiting;
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason: string;
    readonly startedAt: string;
    readonly finishedAt: string;
  };
}

export interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly Condition[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly hostNetwork?: boolean;
    readonly restartPolicy?: string;
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
  readonly status?: PodStatus;
}

interface Observation {
  readonly now: number;
  /** How long the node has known the pod. The pod's own startTime is too coarse for short delays. */
  readonly ageMs: number;
  readonly hostIP: string;
  /** Takes an address for a pod that has none yet. */
  readonly allocateIP: () => string;
}

interface Report {
  /** What to write; undefined when the pod already says so. */
  readonly status?: PodStatus;
  /** When to look again although nothing has changed. */
  readonly againInMs?: number;
}

type PodState = 'waiting' | 'running' | 'unready' | 'crashing' | 'succeeded' | 'failed';

const phases: Readonly<Record<PodState, string>> = {
  waiting: 'Pending',
  running: 'Running',
  unready: 'Running',
  crashing: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
};

/** The status that a pod on this node should have now. */
export function reportOn(pod: Pod, seen: Observation): Report {
  const before = pod.status ?? {};
  if (before.phase === 'Succeeded' || before.phase === 'Failed') return {};
  const now = timestamp(seen.now);
  const startTime = before.startTime ?? now;
  const { podState, againInMs, problem, loop } = podStateOf(pod, seen.ageMs);
  const podIP =
    podState === 'waiting' ? undefined : (before.podIP ?? (pod.spec.hostNetwork ? seen.hostIP : seen.allocateIP()));
  const wanted: PodStatus = {
    phase: phases[podState],
    conditions: conditionsOf(pod, podState, now),
    hostIP: seen.hostIP,
    hostIPs: [{ ip: seen.hostIP }],
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime,
    ...(pod.spec.initContainers === undefined
      ? {}
      : {
          initContainerStatuses: pod.spec.initContainers.map((one) => initContainerStatus(one, podState, before, now)),
        }),
    containerStatuses: pod.spec.containers.map((one) => {
      const previous = before.containerStatuses?.find((status) => status.name === one.name);
      const status = containerStatus(one, podState, previous, now, problem);
      return loop === undefined ? status : { ...status, ...loopStatus(loop, podState, seen.now, previous) };
    }),
  };
  const same = isDeepStrictEqual({ ...before, ...wanted }, before);
  return { ...(same ? {} : { status: wanted }), ...(againInMs === undefined ? {} : { againInMs }) };
}

/** What keeps a container from starting. */
type Problem = (container: Container) => Waiting;

const imageMissing: Problem = ({ image = '' }) => ({
  reason: 'ImagePullBackOff',
  message: `Back-off pulling image "${image}": ErrImagePull: ${image}: not found`,
});

/** Where a container is that ends and starts again: it is up as long as it is down. */
interface Loop {
  readonly upMs: number;
  /** Since it was last started. */
  readonly sinceMs: number;
  readonly restarts: number;
}

function loopOf(upMs: number, ageMs: number): { podState: PodState; againInMs: number; loop: Loop } {
  const sinceMs = ageMs % (2 * upMs);
  const isUp = sinceMs < upMs;
  const loop = { upMs, sinceMs, restarts: Math.floor(ageMs / (2 * upMs)) };
  return { podState: isUp ? 'running' : 'crashing', againInMs: (isUp ? upMs : 2 * upMs) - sinceMs, loop };
}

function loopStatus(
  { upMs, sinceMs, restarts }: Loop,
  podState: PodState,
  now: number,
  previous: ContainerStatus | undefined,
): Partial<ContainerStatus> {
  const isUp = podState === 'running';
  // Clocks are not that exact: what has been said stays.
  if (
    previous?.restartCount === restarts &&
    (previous.state?.running !== undefined) === isUp &&
    (isUp || previous.lastState?.terminated !== undefined)
  ) {
    const { state = {}, lastState = {} } = previous;
    return { restartCount: restarts, state, lastState };
  }
  const startedMs = now - sinceMs;
  const ended = (at: number): ContainerState => ({
    terminated: { exitCode: 1, reason: 'Error', startedAt: timestamp(at), finishedAt: timestamp(at + upMs) },
  });
  if (!isUp) return { restartCount: restarts, lastState: ended(startedMs) };
  const lastState = restarts > 0 ? ended(startedMs - 2 * upMs) : {};
  return { restartCount: restarts, state: { running: { startedAt: timestamp(startedMs) } }, lastState };
}

function podStateOf(
  pod: Pod,
  ageMs: number,
): { podState: PodState; againInMs?: number; problem?: Problem; loop?: Loop } {
  const asked = pod.metadata.annotations?.[simulateAnnotation] ?? '';
  // A pod that ends is first seen running: controllers tell "started" from "done".
  const normal: PodState = endsByItself(pod) && pod.status?.phase === 'Running' ? 'succeeded' : 'running';
  const timed = /^(slow|crash)=(\d+(?:\.\d+)?)(ms|s|m)$/.exec(asked);
  if (timed !== null) {
    const ms = Number(timed[2]) * { ms: 1, s: 1_000, m: 60_000 }[timed[3] as 'ms' | 's' | 'm'];
    if (timed[1] === 'crash' && ms > 0) return loopOf(ms, ageMs);
    return ms > ageMs ? { podState: 'waiting', againInMs: ms - ageMs } : { podState: normal };
  }
  if (asked === 'no-image') return { podState: 'waiting', problem: imageMissing };
  const states: Readonly<Record<string, PodState>> = {
    '': normal,
    pending: 'waiting',
    'never-ready': 'unready',
    crash: 'crashing',
    fail: 'failed',
    run: 'running',
  };
  const podState = states[asked];
  if (podState !== undefined) return { podState };
  const message = `${simulateAnnotation}: '${asked}' is not one of pending, no-image, crash, never-ready, fail, run, slow=<duration> (as in 3s), crash=<duration>`;
  return { podState: 'waiting', problem: () => ({ reason: 'InvalidSimulation', message }) };
}

/** A pod of a Job, or one like that of `helm test`: made by itself, and not to be started again. */
function endsByItself({ metadata, spec }: Pod): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ kind }) => kind === 'Job') || (owners.length === 0 && spec.restartPolicy === 'Never');
}

/** Init containers are done once the pod has started, except those that keep running beside it (sidecars). */
function initContainerStatus(
  container: Container,
  podState: PodState,
  before: PodStatus,
  now: string,
): ContainerStatus {
  const previous = before.initContainerStatuses?.find((status) => status.name === container.name);
  if (podState === 'waiting') return containerStatus(container, 'waiting', previous, now);
  const keepsRunning = container.restartPolicy === 'Always' && podState !== 'succeeded' && podState !== 'failed';
  if (keepsRunning) return containerStatus(container, 'running', previous, now);
  return { ...containerStatus(container, 'succeeded', previous, now), ready: true };
}

function containerStatus(
  container: Container,
  podState: PodState,
  previous: ContainerStatus | undefined,
  now: string,
  problem: Problem = () => ({ reason: 'ContainerCreating' }),
): ContainerStatus {
  const ended = previous?.state?.terminated ?? previous?.lastState?.terminated;
  const startedAt = previous?.state?.running?.startedAt ?? ended?.startedAt ?? now;
  const finishedAt = ended?.finishedAt ?? now;
  const failure: ContainerState = { terminated: { exitCode: 1, reason: 'Error', startedAt, finishedAt } };
  const states: Readonly<Record<PodState, ContainerState>> = {
    waiting: { waiting: problem(container) },
    running: { running: { startedAt } },
    unready: { running: { startedAt } },
    crashing: {
      waiting: { reason: 'CrashLoopBackOff', message: `back-off restarting failed container ${container.name}` },
    },
    succeeded: { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt } },
    failed: failure,
  };
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: podState === 'waiting' ? '' : `simulated://${container.image ?? ''}`,
    ready: podState === 'running',
    started: podState === 'running' || podState === 'unready',
    restartCount: podState === 'crashing' ? 1 : (previous?.restartCount ?? 0),
    state: states[podState],
    lastState: podState === 'crashing' ? failure : {},
  };
}

/** The kubelet's own conditions; those of others (the scheduler, readiness gates) stay as they are. */
function conditionsOf(pod: Pod, podState: PodState, now: string): Condition[] {
  const before = pod.status?.conditions ?? [];
  const gatesOpen = (pod.spec.readinessGates ?? []).every((gate) =>
    before.some((condition) => condition.type === gate.conditionType && condition.status === 'True'),
  );
  const started = podState !== 'waiting';
  const notReady =
    podState === 'succeeded' ? 'PodCompleted' : podState === 'failed' ? 'PodFailed' : 'ContainersNotReady';
  const condition = (type: string, holds: boolean, reason: string): Condition => {
    const status = holds ? 'True' : 'False';
    const previous = before.find((one) => one.type === type);
    const lastTransitionTime = previous?.status === status ? previous.lastTransitionTime : now;
    return { type, status, ...(holds ? {} : { reason }), lastTransitionTime };
  };
  const own = [
    condition('PodReadyToStartContainers', started, 'ContainersNotInitialized'),
    condition('Initialized', started, 'ContainersNotInitialized'),
    condition(
      'Ready',
      podState === 'running' && gatesOpen,
      podState === 'running' ? 'ReadinessGatesNotReady' : notReady,
    ),
    condition('ContainersReady', podState === 'running', notReady),
  ];
  return [...own, ...before.filter((one) => own.every((mine) => mine.type !== one.type))];
}
