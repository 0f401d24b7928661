// Reports orphans, and removes those that are certainly ours: routes first, the rest once no route leads there, and
// none before a grace period.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Chore, ChoreContext } from '../../controller/index.ts';
import { refOf } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { describeOrphan, findOrphans, removalOf } from './orphans.ts';
import type { Orphan } from './orphans.ts';
import type { Settings } from '../settings.ts';

/** The chore. After a restart, the grace period starts again. */
export function orphanChore(settings: Settings): Chore {
  const since = new Map<string, number>();
  return {
    name: 'orphans',
    everyMs: settings.orphanSweepMs,
    async run(site) {
      const orphans = new Map(findOrphans(site.facts, settings).map((orphan) => [idOf(orphan), orphan]));
      for (const id of since.keys()) if (!orphans.has(id)) since.delete(id);
      const now = site.clock.monotonic();
      for (const [id, orphan] of orphans) {
        if (since.has(id)) continue;
        since.set(id, now);
        report(site, orphan, settings);
      }
      if (!settings.removeOrphans) return;
      const due = [...orphans]
        .filter(([id, { doubt }]) => doubt === undefined && now - since.get(id)! >= settings.orphanGraceMs)
        .map(([, orphan]) => orphan);
      for (const environment of new Set(due.map((orphan) => orphan.environment))) {
        await removeAll(
          site,
          environment,
          due.filter((orphan) => orphan.environment === environment),
        );
      }
    },
  };
}

/** The id of an orphan: if its environment or its certainty changes, the grace period starts again. */
function idOf({ kind, object, environment, doubt }: Orphan): string {
  return JSON.stringify([kind.plural, object.metadata.uid, environment, doubt === undefined]);
}

function report(site: ChoreContext, orphan: Orphan, { removeOrphans, orphanGraceMs }: Settings): void {
  const { object, kind, environment, doubt } = orphan;
  const about = { object: describeOrphan(orphan), environment, doubt };
  site.logger.warn(about, 'orphan: the environment that it was created for is gone');
  // An object that may belong to somebody else gets no Event.
  if (doubt !== undefined) return;
  const what = kind === VirtualService ? 'its routes are' : 'it is';
  const minutes = Math.round(orphanGraceMs / 60_000);
  const then = removeOrphans ? `removed in ${minutes} minutes` : 'left for you to remove';
  const note = `environment ${environment} is gone, but its finalizers did not run: ${what} ${then}`;
  site.record(object, { type: 'Warning', reason: 'Orphaned', note });
}

async function removeAll(site: ChoreContext, environment: string, orphans: readonly Orphan[]): Promise<void> {
  // Objects that routes still lead to are removed in a later run.
  const steps = orphans.flatMap((orphan) => removalOf(site.facts, orphan) ?? []);
  if (steps.length === 0) return;
  try {
    if ((await site.read(DynamicEnv, refOf(environment))) !== undefined) return;
    await site.apply(steps);
    site.logger.info({ environment, objects: orphans.map(describeOrphan) }, 'removed the orphans of an environment');
  } catch (err) {
    site.logger.warn({ err, environment }, 'could not remove orphans, retrying later');
  }
}
