// What a deletion takes along, as data: who deletes something waits for it, and shows what is still there.
import type { AnyKind, Kind, KubeObject, Ref } from '../../kube/objects.ts';

/** An object that a deletion takes along, or cleans. */
export interface Removal {
  readonly label: string;
  readonly kind: AnyKind;
  readonly ref: Ref;
  /** Whether an object that is still found under this name is no reason to wait. */
  readonly isDone: (found: KubeObject) => boolean;
}

/** An object that goes or, where `isClean` tells when it is, stays and is cleaned. */
export function removal<T extends KubeObject>(
  kind: Kind<T>,
  { name, namespace }: Ref,
  label: string,
  isClean: (object: T) => boolean = () => false,
): Removal {
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  return { label, kind, ref, isDone: (found) => isClean(found as T) };
}

/** The same for this very object: another one that comes by its name is no reason to wait. */
export function removalOf<T extends KubeObject>(kind: Kind<T>, { metadata }: T, label: string): Removal {
  return removal(kind, metadata, label, (found) => found.metadata.uid !== metadata.uid);
}
