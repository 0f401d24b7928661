// All simulated controllers, and the selectors that decide which of their objects a changed pod enqueues.
import type { AnyObject } from '../../kube/objects.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import { accountControllers } from './access/accounts.ts';
import type { Credentials } from './access/accounts.ts';
import { aggregationController } from './access/aggregation.ts';
import { autoscalerController } from './workloads/autoscaler.ts';
import { cronJobController } from './workloads/jobs/cronjob.ts';
import { daemonSetController } from './workloads/daemonset.ts';
import { deploymentController } from './workloads/deployment/deployment.ts';
import { budgets, disruptionController } from './policy/disruption.ts';
import { endpointControllers, serviceSelector } from './network/endpoints.ts';
import { garbageCollector } from './deletion/garbage.ts';
import { jobController } from './workloads/jobs/job.ts';
import { daemonSets, deployments, jobs, replicaSets, services, statefulSets } from '../kinds/types.ts';
import type { Service } from '../kinds/types.ts';
import { kubeletController } from './pods/kubelet.ts';
import type { Controller } from './loop.ts';
import { namespaceController } from './deletion/namespace.ts';
import { quotaController } from './policy/quota.ts';
import { replicaSetController } from './workloads/replicaset.ts';
import { schedulerController } from './pods/scheduler.ts';
import { statefulSetController } from './workloads/statefulset.ts';
import { safeSelector } from './values.ts';
import type { SelectorReader } from './world.ts';

/** All controllers of a cluster. */
export function controllers(credentials: Credentials | undefined): readonly Controller[] {
  return [
    deploymentController,
    replicaSetController,
    statefulSetController,
    daemonSetController,
    jobController,
    cronJobController,
    schedulerController,
    kubeletController(),
    ...endpointControllers,
    ...accountControllers(credentials),
    namespaceController,
    garbageCollector,
    quotaController,
    disruptionController,
    aggregationController,
    autoscalerController,
  ];
}

const bySelector: SelectorReader = (object) => safeSelector(specOf(object)['selector'] as LabelSelector | undefined);

function specOf(object: AnyObject): Readonly<Record<string, unknown>> {
  return (object['spec'] ?? {}) as Readonly<Record<string, unknown>>;
}

/** Reads the selector of an object that selects pods or replica sets, by collection. */
export const selectors: Readonly<Record<string, SelectorReader>> = {
  [deployments]: bySelector,
  [replicaSets]: bySelector,
  [statefulSets]: bySelector,
  [daemonSets]: bySelector,
  [jobs]: bySelector,
  [budgets]: bySelector,
  [services]: (object) => serviceSelector(object as unknown as Service),
};
