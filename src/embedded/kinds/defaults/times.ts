// Unset times in conditions: the API server always writes them, as null.
import type { ApiObject } from '../../resource.ts';
import { fill, inField, inItems } from './fill.ts';

const transitionTime = { lastTransitionTime: null };
const probeTimes = { ...transitionTime, lastProbeTime: null };

/** The time fields of conditions, by group and kind. */
const conditionTimes: Readonly<Record<string, ApiObject>> = {
  '/Namespace': transitionTime,
  '/Node': { ...transitionTime, lastHeartbeatTime: null },
  '/PersistentVolumeClaim': probeTimes,
  '/Pod': probeTimes,
  '/ReplicationController': transitionTime,
  'apps/DaemonSet': transitionTime,
  'apps/Deployment': { ...transitionTime, lastUpdateTime: null },
  'apps/ReplicaSet': transitionTime,
  'apps/StatefulSet': transitionTime,
  'autoscaling/HorizontalPodAutoscaler': transitionTime,
  'batch/Job': probeTimes,
};

/** Adds the unset times of all conditions. */
export function withTimes(key: string, object: ApiObject): ApiObject {
  const times = conditionTimes[key];
  if (times === undefined) return object;
  return inField(object, 'status', (status) => inItems(status, 'conditions', (condition) => fill(condition, times)));
}
