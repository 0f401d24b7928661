// Updates the usage in the status of resource quotas. admission/quotas.ts refuses what would exceed them.
import type { AnyObject } from '../../../kube/objects.ts';
import { quotas, usedOf } from '../../admission/quotas.ts';
import type { ResourceQuota } from '../../admission/quotas.ts';
import { sameJson } from '../../patch/json.ts';
import type { StoreEvent } from '../../store/types.ts';
import type { Controller } from '../loop.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, statusOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

function planQuota(world: World, quota: ResourceQuota): Plan {
  const used = usedOf(quota, (collection, namespace) => world.list(collection, namespace));
  const status = { hard: quota.spec?.hard ?? {}, used };
  return sameJson(status, quota.status ?? {}) ? nothing : { writes: [statusOf(quota, status)] };
}

/** The quotas of the namespace in which an object was created or deleted, or a pod changed its phase. */
function quotasOf({ type, stored, previous }: StoreEvent, world: World): Iterable<string> {
  const { namespace } = stored.object.metadata;
  if (namespace === undefined) return [];
  const phase = (object: AnyObject | undefined): unknown =>
    (object?.['status'] as { phase?: string } | undefined)?.phase;
  const phaseChanged = stored.collection === 'pods' && phase(stored.object) !== phase(previous?.object);
  if (type === 'MODIFIED' && stored.collection !== quotas && !phaseChanged) return [];
  return world.list(quotas, namespace).map((quota) => `${namespace}/${quota.metadata.name}`);
}

export const quotaController: Controller = {
  name: 'resourcequota-controller',
  writer: controllerManager('resourcequota-controller'),
  on: { '*': quotasOf },
  plan: (world, key) => {
    const quota = world.get(quotas, key);
    return quota === undefined ? nothing : planQuota(world, quota);
  },
};
