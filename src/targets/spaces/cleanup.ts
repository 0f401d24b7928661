// Deletes spaces without a parent and without bindings: their creation was not completed.
import { Space, SpaceBinding } from '../../api/spaces.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { removeUnchanged } from '../../kube/index.ts';
import type { Settings } from '../settings.ts';
import { bindingsOf } from './world.ts';

/** How long a new space may have no binding. */
const UNBOUND_MS = 30_000;

export function spaceCleanup(settings: Settings): ControllerDefinition {
  return defineController<Space>({
    name: 'space-cleanup',
    kind: Space,
    ownsStatus: false,
    plan: (view, space) => planCleanup(view, space, settings),
  });
}

/** Plans the deletion of one space without bindings. */
export function planCleanup(view: View, space: Space, { rootSpace }: Settings): Plan {
  const { name, deletionTimestamp, creationTimestamp } = space.metadata;
  // The root is for users without spaces. If the cluster has no SpaceBindings, nothing can be concluded.
  const isNeeded = (space.spec.parentSpace ?? '') !== '' || name === rootSpace || !view.served(SpaceBinding);
  if (deletionTimestamp !== undefined || isNeeded || bindingsOf(view, space).length > 0) return {};
  const leftMs = Date.parse(creationTimestamp ?? '') + UNBOUND_MS - view.now();
  if (!(leftMs < 0)) return Number.isNaN(leftMs) ? {} : { requeueAfterMs: leftMs + 1 };
  return {
    steps: [removeUnchanged(Space, space)],
    events: [{ type: 'Normal', reason: 'Removed', note: 'the space has no bindings and no parent' }],
  };
}
