// What tables keep of managedFields, which are often half of an object and of which nobody here reads the foreign part.
import type { KubeObject } from './objects.ts';

/** The object with only those managedFields that a field manager of ours left. */
export function withoutForeignManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (!managedFields) return object;
  const ours = managedFields.filter((entry) => entry.manager?.startsWith('offshoot'));
  return { ...object, metadata: ours.length > 0 ? { ...metadata, managedFields: ours } : metadata };
}
