// The status that the simulated kubelet reports for a pod: a pure function of the pod and the time. The kubelet of the
// embedded cluster (kubelet.ts) calls it, and so does the one that simulates pods on a real control plane in tests.
//
// By default a pod runs and is ready at once. The pod annotation `offshoot.dev/simulate` changes that:
//   pending           never starts; its containers stay in ContainerCreating
//   slow=<duration>   starts after that time (`500ms`, `3s`, `2m`), then runs and is ready
//   no-image          never starts; its images can't be pulled: ImagePullBackOff
//   never-ready       runs, but its readiness probes never succeed
//   crash             its containers exit with code 1 again and again: CrashLoopBackOff
//   crash=<duration>  the same, but each time they first run and are ready for this time
//   fail              fails at once, with exit code 1
//   run               keeps running, even if it would succeed by default
// By default the pods of a Job succeed, and so do pods with restartPolicy Never and no owner; all others keep running.
import { timestamp } from '../../../kube/times.ts';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../../kube/objects.ts';

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
  /** May be missing when something else wrote the status. */
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
  /** Time since the kubelet first saw the pod; its startTime is too coarse for short delays. */
  readonly ageMs: number;
  readonly hostIP: string;
  /** Allocates an IP for a pod that has none yet. */
  readonly allocateIP: () => string;
}

interface Report {
  /** The status to write; undefined when it has not changed. */
  readonly status?: PodStatus;
  /** When to check again without an event. */
  readonly requeueAfterMs?: number;
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

/** The status that a pod should have now. */
export function reportOn(pod: Pod, observation: Observation): Report {
  const before = pod.status ?? {};
  if (before.phase === 'Succeeded' || before.phase === 'Failed') return {};
  const now = timestamp(observation.now);
  const startTime = before.startTime ?? now;
  const { podState, requeueAfterMs, problem, crashLoop } = podStateOf(pod, observation.ageMs);
  const podIP =
    podState === 'waiting'
      ? undefined
      : (before.podIP ?? (pod.spec.hostNetwork ? observation.hostIP : observation.allocateIP()));
  const desired: PodStatus = {
    phase: phases[podState],
    conditions: conditionsOf(pod, podState, now),
    hostIP: observation.hostIP,
    hostIPs: [{ ip: observation.hostIP }],
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
      return crashLoop === undefined
        ? status
        : { ...status, ...crashLoopStatus(crashLoop, podState, observation.now, previous) };
    }),
  };
  const same = isDeepStrictEqual({ ...before, ...desired }, before);
  return { ...(same ? {} : { status: desired }), ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
}

/** Why a container does not start. */
type Problem = (container: Container) => Waiting;

const imageMissing: Problem = ({ image = '' }) => ({
  reason: 'ImagePullBackOff',
  message: `Back-off pulling image "${image}": ErrImagePull: ${image}: not found`,
});

/** Where a container is in its crash loop. It is down for as long as it was up. */
interface CrashLoop {
  readonly upMs: number;
  /** Time since the last start. */
  readonly sinceMs: number;
  readonly restarts: number;
}

function crashLoopOf(
  upMs: number,
  ageMs: number,
): { podState: PodState; requeueAfterMs: number; crashLoop: CrashLoop } {
  const sinceMs = ageMs % (2 * upMs);
  const isUp = sinceMs < upMs;
  const crashLoop = { upMs, sinceMs, restarts: Math.floor(ageMs / (2 * upMs)) };
  return { podState: isUp ? 'running' : 'crashing', requeueAfterMs: (isUp ? upMs : 2 * upMs) - sinceMs, crashLoop };
}

function crashLoopStatus(
  { upMs, sinceMs, restarts }: CrashLoop,
  podState: PodState,
  now: number,
  previous: ContainerStatus | undefined,
): Partial<ContainerStatus> {
  const isUp = podState === 'running';
  // Keeps times that were already reported: they would differ slightly when computed again.
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
): { podState: PodState; requeueAfterMs?: number; problem?: Problem; crashLoop?: CrashLoop } {
  const simulation = pod.metadata.annotations?.[simulateAnnotation] ?? '';
  // A pod is reported as running before it succeeds: controllers distinguish the two.
  const normal: PodState = runsToCompletion(pod) && pod.status?.phase === 'Running' ? 'succeeded' : 'running';
  const timed = /^(slow|crash)=(\d+(?:\.\d+)?)(ms|s|m)$/.exec(simulation);
  if (timed !== null) {
    const ms = Number(timed[2]) * { ms: 1, s: 1_000, m: 60_000 }[timed[3] as 'ms' | 's' | 'm'];
    if (timed[1] === 'crash' && ms > 0) return crashLoopOf(ms, ageMs);
    return ms > ageMs ? { podState: 'waiting', requeueAfterMs: ms - ageMs } : { podState: normal };
  }
  if (simulation === 'no-image') return { podState: 'waiting', problem: imageMissing };
  const states: Readonly<Record<string, PodState>> = {
    '': normal,
    pending: 'waiting',
    'never-ready': 'unready',
    crash: 'crashing',
    fail: 'failed',
    run: 'running',
  };
  const podState = states[simulation];
  if (podState !== undefined) return { podState };
  const message = `${simulateAnnotation}: '${simulation}' is not one of pending, no-image, crash, never-ready, fail, run, slow=<duration> (as in 3s), crash=<duration>`;
  return { podState: 'waiting', problem: () => ({ reason: 'InvalidSimulation', message }) };
}

/** True for the pods of a Job, and for pods such as those of `helm test`: no owner, and never restarted. */
function runsToCompletion({ metadata, spec }: Pod): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ kind }) => kind === 'Job') || (owners.length === 0 && spec.restartPolicy === 'Never');
}

/** Init containers have terminated once the pod has started, except sidecars, which keep running. */
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

/** Sets the kubelet's own conditions; keeps those of others (the scheduler, readiness gates). */
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
