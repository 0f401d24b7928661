// The removal of orphans in a forecast, in place of the chore. The forecast does not wait for the grace period: it
// shows what will be removed, and the output says when.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defineController } from '../../controller/index.ts';
import type { Change, ControllerDefinition } from '../../controller/index.ts';
import { FIELD_MANAGER } from '../names.ts';
import { ORPHAN_KINDS, orphansIn, removalOf } from '../orphans/orphans.ts';
import { environmentsOf } from '../identity/ownership.ts';
import type { Settings } from '../settings.ts';

const PREFIX = 'orphaned-';

/** Removes objects that have certainly been orphans for this long. */
export function orphanRemovals(settings: Settings, afterMs: number): readonly ControllerDefinition[] {
  return ORPHAN_KINDS.map((kind) =>
    defineController({
      name: `${PREFIX}${kind.plural}`,
      fieldManager: FIELD_MANAGER,
      kind,
      ownsStatus: false,
      plan(view, object) {
        if (!view.served(DynamicEnv)) return {};
        const certain = orphansIn(view, kind, object, settings).filter(({ doubt }) => doubt === undefined);
        if (certain.length === 0) return {};
        const waitMs = afterMs - view.heldFor(JSON.stringify(certain.map(({ environment }) => environment)));
        if (waitMs > 0) return { requeueAfterMs: waitMs };
        return { steps: certain.flatMap((orphan) => removalOf(view, orphan) ?? []) };
      },
    }),
  );
}

/** The environments whose orphans a change removes. */
export function orphanedBy({ by, before, after }: Change): readonly string[] {
  if (before === undefined || !by.some((name) => name.startsWith(PREFIX))) return [];
  const left = new Set(after && environmentsOf(after));
  return environmentsOf(before).filter((key) => !left.has(key));
}
