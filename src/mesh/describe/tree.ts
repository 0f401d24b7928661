// The tree of a mesh: versions, components with their workloads, pending restarts, resources that block a deletion, and
// Istio resources that have no effect.
import type { Istio } from '../../api/istio.ts';
import { notSeenYet } from '../../api/description/controllers-hint.ts';
import { recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { node } from '../../api/description/tree.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import { conditionsOf } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { resourceName } from '../deletion/blocking.ts';
import { componentOf, COMPONENTS } from '../installation/components.ts';
import { istioTag, readLastApplied } from '../custom-resource/last-applied.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { rolloutOf } from '../workloads/rollout.ts';
import { whyInactive, activeIstio } from '../custom-resource/active-istio.ts';
import { defaultMeshSettings } from '../settings.ts';
import { versionGate } from '../version/gate.ts';
import { istiodTags, runningVersion } from '../version/running.ts';
import { coreText } from '../version/semver.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import type { MeshWorld } from './world.ts';

export interface MeshDescription {
  /** One for each resource, the active one first. */
  readonly resources: readonly TreeNode[];
  readonly versions: MeshVersions;
  readonly events: readonly RecentEvent[];
}

export interface MeshVersions {
  /** The version of the running pods. */
  readonly running?: string;
  /** Why the running version is not known. */
  readonly problem?: string;
  /** The version that the last installation recorded. */
  readonly recorded?: string;
  /** The version that this release installs. */
  readonly offered: string;
  /** Why it must not be installed over the current version. */
  readonly refusal?: string;
}

export interface DescribeMeshOptions {
  /** The version to install, if it is not that of this release. */
  readonly istioVersion?: string;
  /** Also show the pods in Istio's namespace. */
  readonly pods?: boolean;
}

/** Describes a mesh. */
export function describeMesh(world: MeshWorld, options: DescribeMeshOptions = {}): MeshDescription {
  const active = activeIstio(world.istios);
  const others = world.istios
    .filter((each) => each !== active)
    .toSorted((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));
  return {
    resources: [
      ...(active === undefined ? [] : [activeNode(world, active, options)]),
      ...others.map((each) => {
        const reasons = [whyInactive(each, world.istios)?.description ?? ''].filter((text) => text !== '');
        return node('Istio', keyOf(each.metadata), stateOf(each), { reasons });
      }),
    ],
    versions: versionsOf(world, active, options),
    events: recentEvents(world.events),
  };
}

/** The values of `stateOf`. */
export const STATES = ['Pending', 'Processing', 'Ready', 'Warning', 'Error', 'Deleting'] as const;

/** The state of a resource in one word. */
export function stateOf(istio: Istio): string {
  if (istio.status === undefined) return 'Pending';
  return isCurrent(istio) ? istio.status.state : 'Processing';
}

function versionsOf(
  { pods }: MeshWorld,
  active: Istio | undefined,
  { istioVersion: offered = defaultMeshSettings.istioVersion }: DescribeMeshOptions,
): MeshVersions {
  const applied = active === undefined ? undefined : readLastApplied(active);
  const recorded = typeof applied === 'object' && applied.tag !== undefined ? { recorded: applied.tag } : {};
  const tags = istiodTags(pods);
  const refusal = versionGate(istioTag(offered), { ...recorded, running: tags })?.description;
  return { ...runningOf(pods, tags), ...recorded, offered, ...(refusal !== undefined && { refusal }) };
}

/** An istiod that somebody else installed runs without our labels. */
function runningOf(pods: readonly Pod[], tags: readonly string[]): Pick<MeshVersions, 'running' | 'problem'> {
  const running = runningVersion(pods);
  if ('version' in running) return { running: running.version };
  if (tags.length === 1) return { running: tags[0]! };
  return pods.length === 0 ? {} : { problem: running.problem };
}

/** The versions, one sentence each. */
export function versionLines({ running, problem, recorded, offered, refusal }: MeshVersions): string[] {
  const isThere = problem === undefined ? 'Istio does not run.' : `The version of Istio is not known: ${problem}.`;
  return [
    running === undefined ? isThere : `Istio ${coreText(running)} runs.`,
    ...(recorded === undefined ? [] : [`Istio ${coreText(recorded)} was installed last.`]),
    `This release of Offshoot installs Istio ${coreText(offered)}.`,
    ...(refusal === undefined ? [] : [`${refusal}.`]),
  ];
}

function activeNode(world: MeshWorld, istio: Istio, options: DescribeMeshOptions): TreeNode {
  const { running, recorded } = versionsOf(world, istio, options);
  return node('Istio', keyOf(istio.metadata), stateOf(istio), {
    detail: detailOf(running, recorded),
    reasons: reasonsOf(istio),
    children: [
      ...componentNodes(world),
      ...(options.pods === true ? podNodes(world) : []),
      ...restartNodes(istio),
      ...uninjectedNodes(istio),
      ...blockingNodes(istio),
    ],
  });
}

/** The running version, else the recorded one, without the flavour of the images. */
function detailOf(running: string | undefined, recorded: string | undefined): string {
  if (running !== undefined) return `Istio ${coreText(running)}`;
  return recorded === undefined ? '' : `Istio ${coreText(recorded)} does not run`;
}

/** The reasons that are not shown in the nodes below. */
function reasonsOf(istio: Istio): string[] {
  const { status } = istio;
  if (status === undefined) return [notSeenYet('mesh')];
  if (!isCurrent(istio)) return ['the controller has not seen the latest change yet'];
  const stalled = conditionsOf(istio).filter(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const { description = '' } = status;
  const messages = stalled.map(({ message }) => message);
  // The message of `Stalled` may repeat the description and add to it.
  return [...(messages.some((text) => text.startsWith(description)) ? [] : [description]), ...messages].filter(
    (text) => text !== '',
  );
}

function isCurrent({ metadata, status }: Istio): boolean {
  return Number(status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function componentNodes({ workloads }: MeshWorld): TreeNode[] {
  const groups = Map.groupBy(workloads, componentOf);
  const of = ({ kind, metadata }: Workload, state: string, reasons: readonly string[] = []): TreeNode =>
    node(kind, keyOf(metadata), state, { reasons });
  return COMPONENTS.flatMap((name) => {
    const own = groups.get(name);
    if (own === undefined) return [];
    const children = own.map((workload) => {
      const rollout = rolloutOf(workload);
      if (rollout.state !== 'done') return of(workload, rollout.state, [rollout.why]);
      return workload.spec?.replicas === 0
        ? of(workload, 'not ready', ['it is scaled to 0 pods'])
        : of(workload, 'ready');
    });
    const ready = children.every(({ state }) => state === 'ready');
    return [node('Component', name, ready ? 'ready' : 'not ready', { children })];
  });
}

function podNodes({ pods }: MeshWorld): TreeNode[] {
  if (pods.length === 0) return [];
  const children = pods.map(({ metadata, spec, status }) => {
    const images = (spec?.containers ?? []).map(({ image = '' }) => image);
    const state = metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';
    return node('Pod', metadata.name, state, { detail: images.join(', ') });
  });
  return [node('Pods', ISTIO_NAMESPACE, `${pods.length}`, { children })];
}

function restartNodes({ status }: Istio): TreeNode[] {
  if (status?.restarts === undefined) return [];
  const { total, restarting, workloads } = status.restarts;
  const children = workloads.map(({ kind, namespace, name, why, waiting }) =>
    node(kind, keyOf({ name, ...(namespace !== undefined && { namespace }) }), 'waiting', {
      detail: why,
      reasons: waiting === undefined ? [] : [waiting],
    }),
  );
  const more = total - restarting - workloads.length;
  return [
    node('Restarts', `${total} workload${total === 1 ? '' : 's'}`, restarting > 0 ? 'restarting' : 'waiting', {
      detail: [`${restarting} now`, ...(more > 0 ? [`${more} more are not listed`] : [])].join(', '),
      children,
    }),
  ];
}

function uninjectedNodes({ status }: Istio): TreeNode[] {
  if (status?.uninjected === undefined) return [];
  const { total, pods } = status.uninjected;
  const more = total - pods.length;
  return [
    node('Without sidecar', `${total} pod${total === 1 ? '' : 's'}`, 'left alone', {
      detail: more > 0 ? `${more} more are not listed` : '',
      children: pods.map((pod) => node('Pod', keyOf(pod), 'without sidecar')),
    }),
  ];
}

function blockingNodes({ status }: Istio): TreeNode[] {
  if (status?.blockedBy === undefined) return [];
  const { total, resources } = status.blockedBy;
  const more = total - resources.length;
  return [
    node('Blocked by', `${total} resource${total === 1 ? '' : 's'}`, 'blocking', {
      detail: more > 0 ? `${more} more are not listed` : '',
      reasons: ['delete them, and the deletion continues'],
      children: resources.map(({ kind, namespace, name }) =>
        node(resourceName(kind), keyOf({ name, ...(namespace !== undefined && { namespace }) }), 'blocking'),
      ),
    }),
  ];
}
