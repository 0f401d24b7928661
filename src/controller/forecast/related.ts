// The changes of a forecast that concern some objects: changes of them, changes that controllers make for them, and
// what follows from these.
import { identityOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject, Ref } from '../../kube/objects.ts';
import type { Change, Planned } from './changes.ts';
import type { Forecast, Intent } from './forecast.ts';

/** An object by its kind and name. */
export interface Named {
  readonly kind: AnyKind;
  readonly ref: Ref;
}

/** The object of an intended change. */
export function namedIn(intent: Intent): Named {
  return { kind: intent.kind, ref: 'put' in intent ? intent.put.metadata : intent.delete };
}

/** The part of a forecast that concerns these objects. */
export function relatedTo(roots: readonly Named[], made: Forecast): Pick<Forecast, 'changes' | 'stalled'> {
  const related = new Set(roots.map(({ kind, ref }) => identityOf(kind, ref)));
  for (let before = -1; before < related.size;) {
    before = related.size;
    for (const write of made.writes) {
      const ids = [idOf(write.kind, (write.after ?? write.before)!), idOf(write.for.kind, write.for.object)];
      if (ids.some((id) => related.has(id))) for (const id of ids) related.add(id);
    }
  }
  return {
    changes: made.changes.filter(({ kind, after, before }: Change) => related.has(idOf(kind, (after ?? before)!))),
    stalled: made.stalled.filter(({ kind, object }: Planned) => related.has(idOf(kind, object))),
  };
}

function idOf(kind: AnyKind, { metadata }: KubeObject): string {
  return identityOf(kind, metadata);
}
