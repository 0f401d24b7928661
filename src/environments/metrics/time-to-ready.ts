// How long a new environment takes until it is ready.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { Condition, StatusTiming } from '../../controller/index.ts';

/** The first "not ready" status is written within this time; a later one means that something broke. */
const FIRST_STATUS_MS = 60_000;

export const timeToReady: StatusTiming<DynamicEnv> = {
  name: 'offshoot_environment_ready_seconds',
  help: 'Time from the creation of an environment until it is first ready',
  labels: [],
  buckets: [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800],
  measure(before, after, now) {
    const createdAt = Date.parse(before.metadata.creationTimestamp ?? '');
    if (readyOf(after)?.status !== 'True' || Number.isNaN(createdAt)) return undefined;
    const earlier = readyOf(before);
    const isFirst =
      earlier === undefined ||
      (earlier.status !== 'True' && Date.parse(earlier.lastTransitionTime) - createdAt < FIRST_STATUS_MS);
    return isFirst ? { labels: {}, value: Math.max(0, now - createdAt) / 1000 } : undefined;
  },
};

function readyOf(env: DynamicEnv): Condition | undefined {
  return conditionsOf(env).find(({ type }) => type === 'Ready');
}
