// What a deletion removes or cleans up, as data: a command that deletes waits for it, and shows what is still there.
import type { AnyKind, Kind, KubeObject, Ref } from '../../kube/objects.ts';

/** An object that a deletion removes or cleans up. */
export interface Removal {
  readonly label: string;
  readonly kind: AnyKind;
  readonly ref: Ref;
  /** Whether an object that is still found under this name need not be waited for. */
  readonly isDone: (found: KubeObject) => boolean;
}

/** An object that is deleted or, with `isClean`, kept and cleaned up. */
export function removal<T extends KubeObject>(
  kind: Kind<T>,
  { name, namespace }: Ref,
  label: string,
  isClean: (object: T) => boolean = () => false,
): Removal {
  const ref = { name, ...(namespace !== undefined && { namespace }) };
  return { label, kind, ref, isDone: (found) => isClean(found as T) };
}

/** The same for exactly this object: a new object of the same name has another UID and is not waited for. */
export function removalOf<T extends KubeObject>(kind: Kind<T>, { metadata }: T, label: string): Removal {
  return removal(kind, metadata, label, (found) => found.metadata.uid !== metadata.uid);
}
