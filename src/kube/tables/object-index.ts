// Index functions: they find objects of a table without scanning it.
import type { KubeObject } from '../objects.ts';

/** The values under which an object is found. It must depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Finds objects by the uid of any of their owners. */
export const byOwner: IndexFunction<KubeObject> = (object) =>
  (object.metadata.ownerReferences ?? []).map((owner) => owner.uid);

/** Finds objects by the value of one label. */
export function byLabel(name: string): IndexFunction<KubeObject> {
  return ({ metadata: { labels } }) => (labels && Object.hasOwn(labels, name) ? [labels[name]!] : []);
}
