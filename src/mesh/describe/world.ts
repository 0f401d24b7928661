// The objects of a mesh that we are allowed to read: Istio resources, workloads and pods of the control plane, Events.
import { eventsAbout } from '../../api/description/events.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import { Istio } from '../../api/istio.ts';
import { defineKind } from '../../kube/index.ts';
import type { Event, Kind } from '../../kube/index.ts';
import { COMPONENT_LABEL } from '../installation/components.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { activeIstio } from '../custom-resource/active-istio.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';

/** The objects of a mesh. */
export interface MeshWorld {
  readonly istios: readonly Istio[];
  /** Deployments and DaemonSets with the label of a component. */
  readonly workloads: readonly Workload[];
  /** Pods of Istio's namespace. */
  readonly pods: readonly Pod[];
  /** Events about the active resource; the latest last. */
  readonly events: readonly Event[];
}

const WORKLOADS: readonly Kind<Workload>[] = [
  defineKind<Workload>('apps/v1', 'Deployment', 'deployments'),
  defineKind<Workload>('apps/v1', 'DaemonSet', 'daemonsets'),
];
const Pods = defineKind<Pod>('v1', 'Pod', 'pods');

/** Reads the world of a mesh. */
export function meshWorld(read: ObjectReader): MeshWorld {
  const istios = read.list(Istio, {});
  const active = activeIstio(istios);
  return {
    istios,
    workloads: WORKLOADS.flatMap((kind) => read.list(kind, { labelSelector: COMPONENT_LABEL })),
    pods: read.list(Pods, { namespace: ISTIO_NAMESPACE }),
    events: active === undefined ? [] : eventsAbout(read, active),
  };
}
