// The tree of a mesh: versions, components with their workloads, restarts that are to be done, what blocks a deletion, and
// resources that have no effect.
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
import { istioTag, readLastApplied } from '../last-applied.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { rolloutOf } from '../rollout.ts';
import { notRuling, rulingIstio } from '../ruling.ts';
import { defaultMeshSettings } from '../settings.ts';
import { versionGate } from '../version/gate.ts';
import { istiodTags, runningVersion } from '../version/running.ts';
import { coreText } from '../version/semver.ts';
import type { Pod, Workload } from '../workloads.ts';
import type { MeshWorld } from './world.ts';

export interface MeshDescription {
  /** One for each resource, the ruling one first. */
  readonly resources: readonly TreeNode[];
  readonly versions: MeshVersions;
  readonly events: readonly RecentEvent[];
}

export interface MeshVersions {
  /** That of the pods. */
  readonly running?: string;
  /** Why it can't be told. */
  readonly problem?: string;
  /** What the last installation recorded. */
  readonly recorded?: string;
  /** What this release installs. */
  readonly offered: string;
  /** Why it may not be installed over what is there. */
  readonly refusal?: string;
}

export interface DescribeMeshOptions {
  /** The version that is offered, if it is not that of this release. */
  readonly istioVersion?: string;
  /** Show the pods of Istio's namespace as well. */
  readonly pods?: boolean;
}

/** Describes a mesh. */
export function describeMesh(world: MeshWorld, options: DescribeMeshOptions = {}): MeshDescription {
  const ruling = rulingIstio(world.istios);
  const others = world.istios
    .filter((each) => each !== ruling)
    .toSorted((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));
  return {
    resources: [
      ...(ruling === undefined ? [] : [rulingNode(world, ruling, options)]),
      ...others.map((each) => {
        const reasons = [notRuling(each, world.istios)?.description ?? ''].filter((text) => text !== '');
        return node('Istio', keyOf(each.metadata), stateOf(each), { reasons });
      }),
    ],
    versions: versionsOf(world, ruling, options),
    events: recentEvents(world.events),
  };
}

/** The words of `stateOf`. */
export const STATES = ['Pending', 'Processing', 'Ready', 'Warning', 'Error', 'Deleting'] as const;

/** The state of a resource in one word. */
export function stateOf(istio: Istio): string {
  if (istio.status === undefined) return 'Pending';
  return isCurrent(istio) ? istio.status.state : 'Processing';
}

function versionsOf(
  { pods }: MeshWorld,
  ruling: Istio | undefined,
  { istioVersion: offered = defaultMeshSettings.istioVersion }: DescribeMeshOptions,
): MeshVersions {
  const applied = ruling === undefined ? undefined : readLastApplied(ruling);
  const recorded = typeof applied === 'object' && applied.tag !== undefined ? { recorded: applied.tag } : {};
  const tags = istiodTags(pods);
  const refusal = versionGate(istioTag(offered), { ...recorded, running: tags })?.description;
  return { ...runningOf(pods, tags), ...recorded, offered, ...(refusal !== undefined && { refusal }) };
}

/** An istiod that somebody else installed has none of our labels, and runs all the same. */
function runningOf(pods: readonly Pod[], tags: readonly string[]): Pick<MeshVersions, 'running' | 'problem'> {
  const running = runningVersion(pods);
  if ('version' in running) return { running: running.version };
  if (tags.length === 1) return { running: tags[0]! };
  return pods.length === 0 ? {} : { problem: running.problem };
}

/** Which versions there are, in one sentence each. */
export function versionLines({ running, problem, recorded, offered, refusal }: MeshVersions): string[] {
  const isThere = problem === undefined ? 'Istio does not run.' : `The version of Istio is not known: ${problem}.`;
  return [
    running === undefined ? isThere : `Istio ${coreText(running)} runs.`,
    ...(recorded === undefined ? [] : [`Istio ${coreText(recorded)} was installed last.`]),
    `This release of Offshoot installs Istio ${coreText(offered)}.`,
    ...(refusal === undefined ? [] : [`${refusal}.`]),
  ];
}

function rulingNode(world: MeshWorld, istio: Istio, options: DescribeMeshOptions): TreeNode {
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

/** What runs, or ran; in the same form, whatever images it had. */
function detailOf(running: string | undefined, recorded: string | undefined): string {
  if (running !== undefined) return `Istio ${coreText(running)}`;
  return recorded === undefined ? '' : `Istio ${coreText(recorded)} does not run`;
}

/** What the parts below do not say themselves. */
function reasonsOf(istio: Istio): string[] {
  const { status } = istio;
  if (status === undefined) return [notSeenYet('mesh')];
  if (!isCurrent(istio)) return ['the controller has not seen the latest change yet'];
  const stalled = conditionsOf(istio).filter(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const { description = '' } = status;
  const messages = stalled.map(({ message }) => message);
  // What stalls it may be the same in more words.
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
