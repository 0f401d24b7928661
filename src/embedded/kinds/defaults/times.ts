// Times that nobody has set: in the API server's types they are always there, and written as null.
import type { ApiObject } from '../../resource.ts';
import { fill, inField, inItems } from './fill.ts';

const changed = { lastTransitionTime: null };
const probed = { ...changed, lastProbeTime: null };

/** The times of a condition, by group and kind. */
const conditionTimes: Readonly<Record<string, ApiObject>> = {
  '/Namespace': changed,
  '/Node': { ...changed, lastHeartbeatTime: null },
  '/PersistentVolumeClaim': probed,
  '/Pod': probed,
  '/ReplicationController': changed,
  'apps/DaemonSet': changed,
  'apps/Deployment': { ...changed, lastUpdateTime: null },
  'apps/ReplicaSet': changed,
  'apps/StatefulSet': changed,
  'autoscaling/HorizontalPodAutoscaler': changed,
  'batch/Job': probed,
};

/** An object whose conditions have all of their times. */
export function withTimes(key: string, object: ApiObject): ApiObject {
  const times = conditionTimes[key];
  if (times === undefined) return object;
  return inField(object, 'status', (status) => inItems(status, 'conditions', (condition) => fill(condition, times)));
}
