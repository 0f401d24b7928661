// Where a description reads from: the tables of a control plane, or what a command has fetched. Reading is synchronous,
// so that whoever describes something needs no I/O of its own.
import type { Selection } from '../../kube/client/client.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';

export interface ObjectReader {
  /** The object; `hidden` where we may not see whether there is one. */
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | 'hidden' | undefined;
  /** What we may see of a selection. */
  list<T extends KubeObject>(kind: Kind<T>, selection: Selection): readonly T[];
}

/** The object, or undefined where there is none that we may see. */
export function visible<T>(object: T | 'hidden' | undefined): T | undefined {
  return object === 'hidden' ? undefined : object;
}
