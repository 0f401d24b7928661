// What a plan asks for, one step at a time. Plain data: apply.ts carries it out, the command line prints it.
import type { AnyKind, Kind, KubeObject } from './objects.ts';

/** An object of ours: it shall have these fields. Written by server-side apply, so omitting a field gives it up. */
export interface Own {
  readonly do: 'own';
  readonly kind: AnyKind;
  readonly object: KubeObject;
}

/**
 * A change to an object that others own: from what was observed to what it shall be. Refused by the server if the
 * object is no longer the one that was observed. With `subresource`, only that part is written.
 */
export interface Edit {
  readonly do: 'edit';
  readonly kind: AnyKind;
  readonly from: KubeObject;
  readonly to: KubeObject;
  readonly subresource?: 'status';
}

/** An object that shall be gone: the very one that was observed, not another of the same name. */
export interface Remove {
  readonly do: 'remove';
  readonly kind: AnyKind;
  readonly object: KubeObject;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
}

export type Step = Own | Edit | Remove;

/** Makes an `own` step. */
export function own<T extends KubeObject>(kind: Kind<T>, object: T): Own {
  return { do: 'own', kind, object };
}

/** Makes an `edit` step. */
export function edit<T extends KubeObject>(kind: Kind<T>, from: T, to: T): Edit {
  return { do: 'edit', kind, from, to };
}

/** Makes an `edit` step for the status of an object. */
export function editStatus<T extends KubeObject>(kind: Kind<T>, from: T, status: unknown): Edit {
  const to: KubeObject & { status: unknown } = { ...from, status };
  return { do: 'edit', kind, from, to, subresource: 'status' };
}

/** Makes a `remove` step. */
export function remove<T extends KubeObject>(kind: Kind<T>, object: T, propagation?: Remove['propagation']): Remove {
  return { do: 'remove', kind, object, ...(propagation && { propagation }) };
}
