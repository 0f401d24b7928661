// Whether an applied object is ready, which the next component waits for.
import type { AnyObject } from '../../kube/index.ts';
import { rolloutOf } from '../workloads/rollout.ts';
import type { Workload } from '../workloads/workloads.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Why an object is not ready; undefined if it is. `live` is undefined if the object does not exist. */
export function notReady(desired: AnyObject, live: AnyObject | undefined): string | undefined {
  const name = `${desired.kind} ${desired.metadata.name}`;
  if (live === undefined) return `${name} is not there`;
  if (live.metadata.deletionTimestamp !== undefined) return `${name} is being deleted`;
  const status = (live['status'] ?? {}) as { readonly phase?: string; readonly conditions?: readonly Condition[] };
  switch (desired.kind) {
    case 'CustomResourceDefinition': {
      const established = status.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
      return established === true ? undefined : `${name} is not established`;
    }
    case 'Namespace':
      return status.phase === 'Terminating' ? `${name} is being deleted` : undefined;
    case 'DaemonSet':
      // A DaemonSet that was just created has no scheduled pods yet.
      if (((live as Workload).status?.desiredNumberScheduled ?? 0) === 0) return `${name}: no pods are scheduled`;
      return rolloutProblem(name, live);
    case 'Deployment':
      // An autoscaler does not scale up from 0.
      if ((live as Workload).spec?.replicas === 0) return `${name} is scaled to 0 pods`;
      return rolloutProblem(name, live);
    case 'StatefulSet':
      return rolloutProblem(name, live);
    default:
      return undefined;
  }
}

function rolloutProblem(name: string, live: AnyObject): string | undefined {
  const rollout = rolloutOf(live);
  return rollout.state === 'done' ? undefined : `${name}: ${rollout.why}`;
}
