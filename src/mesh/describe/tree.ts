// The tree of a mesh: versions, components with their workloads, restarts that are to be done, what blocks a deletion, and
// resources that have no effect.
import type { Istio } from '../../api/istio.ts';
import { recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import { node } from '../../api/description/tree.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import { conditionsOf } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Event } from '../../kube/index.ts';
import { componentOf, COMPONENTS } from '../installation/components.ts';
import { readLastApplied } from '../last-applied.ts';
import { rolloutOf } from '../rollout.ts';
import { notRuling, rulingIstio } from '../ruling.ts';
import { runningVersion } from '../version/running.ts';
import type { Pod, Workload } from '../workloads.ts';

/** What there is of a mesh. */
export interface MeshWorld {
  readonly istios: readonly Istio[];
  /** Deployments and DaemonSets with the label of a component. */
  readonly workloads: readonly Workload[];
  /** Pods of Istio's namespace. */
  readonly pods: readonly Pod[];
  /** About the ruling resource; the latest last. */
  readonly events: readonly Event[];
}

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
}

/** Describes a mesh. */
export function describeMesh(world: MeshWorld): MeshDescription {
  const ruling = rulingIstio(world.istios);
  const others = world.istios
    .filter((each) => each !== ruling)
    .toSorted((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));
  return {
    resources: [
      ...(ruling === undefined ? [] : [rulingNode(world, ruling)]),
      ...others.map((each) => {
        const reasons = [notRuling(each, world.istios)?.description ?? ''].filter((text) => text !== '');
        return node('Istio', keyOf(each.metadata), stateOf(each), { reasons });
      }),
    ],
    versions: versionsOf(world, ruling),
    events: recentEvents(world.events),
  };
}

/** The state of a resource in one word. */
export function stateOf(istio: Istio): string {
  if (istio.status === undefined) return 'Pending';
  return isCurrent(istio) ? istio.status.state : 'Processing';
}

function versionsOf({ pods }: MeshWorld, ruling: Istio | undefined): MeshVersions {
  const applied = ruling === undefined ? undefined : readLastApplied(ruling);
  const running = runningVersion(pods);
  return {
    ...('version' in running ? { running: running.version } : { problem: running.problem }),
    ...(typeof applied === 'object' && applied.tag !== undefined && { recorded: applied.tag }),
  };
}

function rulingNode(world: MeshWorld, istio: Istio): TreeNode {
  const { running, recorded } = versionsOf(world, istio);
  return node('Istio', keyOf(istio.metadata), stateOf(istio), {
    detail: running === undefined ? (recorded ?? '') : `Istio ${running}`,
    reasons: reasonsOf(istio),
    children: [...componentNodes(world), ...restartNodes(istio), ...blockingNodes(istio)],
  });
}

/** What the parts below do not say themselves. */
function reasonsOf(istio: Istio): string[] {
  const { status } = istio;
  if (status === undefined) return ['no controller has looked at it yet'];
  if (!isCurrent(istio)) return ['the controller has not seen the latest change yet'];
  const stalled = conditionsOf(istio).filter(({ type, status: is }) => type === 'Stalled' && is === 'True');
  return [status.description ?? '', ...stalled.map(({ message }) => message)].filter((text) => text !== '');
}

function isCurrent({ metadata, status }: Istio): boolean {
  return Number(status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function componentNodes({ workloads }: MeshWorld): TreeNode[] {
  const groups = Map.groupBy(workloads, componentOf);
  return COMPONENTS.flatMap((name) => {
    const own = groups.get(name);
    if (own === undefined) return [];
    const children = own.map((workload) => {
      const rollout = rolloutOf(workload);
      const state = rollout.state === 'done' ? 'ready' : rollout.state;
      return node(workload.kind, keyOf(workload.metadata), state, {
        reasons: rollout.state === 'done' ? [] : [rollout.why],
      });
    });
    const ready = children.every(({ state }) => state === 'ready');
    return [node('Component', name, ready ? 'ready' : 'not ready', { children })];
  });
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

function blockingNodes({ status }: Istio): TreeNode[] {
  if (status?.blockedBy === undefined) return [];
  const { total, resources } = status.blockedBy;
  const more = total - resources.length;
  return [
    node('Blocked by', `${total} resource${total === 1 ? '' : 's'}`, 'blocking', {
      detail: more > 0 ? `${more} more are not listed` : '',
      reasons: ['delete them, and the deletion goes on by itself'],
      children: resources.map(({ kind, namespace, name }) =>
        node(kind, keyOf({ name, ...(namespace !== undefined && { namespace }) }), 'blocking'),
      ),
    }),
  ];
}
