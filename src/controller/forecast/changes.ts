// The net effect of a series of writes, object by object: created, changed, replaced by another of the name, removed.
import { identityOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { fieldChanges } from './diff.ts';
import type { FieldChange } from './diff.ts';

/** The author of the intended changes. */
export const SOMEBODY = 'you';
/** The author of what Kubernetes itself does: the garbage collector and the namespace controller. */
export const CLUSTER = 'cluster';

/** The author of a write. */
export interface Author {
  /** The name of the controller; `cluster` for what Kubernetes itself does. */
  readonly by: string;
  /** The object that the controller plans for. */
  readonly for: Planned;
}

/** One write, with the object before and after it. */
export interface Write extends Author {
  readonly kind: AnyKind;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** An object that a controller plans for. */
export interface Planned {
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

/** The net effect of all writes to one object. */
export interface Change {
  readonly do: 'make' | 'change' | 'replace' | 'remove';
  readonly kind: AnyKind;
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
  readonly fields: readonly FieldChange[];
  /** The authors, in order. */
  readonly by: readonly string[];
}

/** The net changes, in order: an object is listed where it is first written, or where it is removed. */
export function changesOf(writes: readonly Write[]): readonly Change[] {
  const byObject = Map.groupBy(writes.entries(), ([, { kind, before, after }]) =>
    identityOf(kind, (after ?? before)!.metadata),
  );
  const placed = [...byObject.values()].flatMap((own) => {
    const change = changeOf(own.map(([, write]) => write));
    if (change === undefined) return [];
    const [at] = change.do === 'remove' ? own.at(-1)! : own[0]!;
    return [{ at, change }];
  });
  return placed.sort((a, b) => a.at - b.at).map(({ change }) => change);
}

/** Undefined if the writes have no visible effect. */
function changeOf(writes: readonly Write[]): Change | undefined {
  const { kind, before } = writes[0]!;
  const { after } = writes.at(-1)!;
  const by = [...new Set(writes.map((write) => write.by))];
  if (before === undefined || after === undefined) {
    if (before === after) return undefined;
    return { do: before === undefined ? 'make' : 'remove', kind, before, after, fields: [], by };
  }
  if (before.metadata.uid !== after.metadata.uid) return { do: 'replace', kind, before, after, fields: [], by };
  const fields = fieldChanges(before, after);
  return fields.length === 0 ? undefined : { do: 'change', kind, before, after, fields, by };
}
