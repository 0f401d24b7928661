// Where a description reads from: the tables of a control plane, or what a command has fetched. Reading is synchronous,
// so that descriptions need no I/O.
import type { Selection } from '../../kube/client/client.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';

export interface ObjectReader {
  /** The object; `hidden` if we have no permission to read it. */
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | 'hidden' | undefined;
  /** The objects of a selection that we have permission to read. */
  list<T extends KubeObject>(kind: Kind<T>, selection: Selection): readonly T[];
}

/** The object; undefined if it does not exist or we may not read it. */
export function visible<T>(object: T | 'hidden' | undefined): T | undefined {
  return object === 'hidden' ? undefined : object;
}
