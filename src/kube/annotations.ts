// Annotations of an object, changed without touching what others put there.
import type { KubeObject } from './objects.ts';

/** What some annotations should be; one that is `undefined` should not be there. */
export type AnnotationChanges = Readonly<Record<string, string | undefined>>;

/** The object with some annotations set, changed or taken away. */
export function withAnnotations<T extends KubeObject>(object: T, changes: AnnotationChanges): T {
  const before = object.metadata.annotations;
  const entries = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== undefined);
  if (before === undefined && entries.length === 0) return object;
  const annotations = Object.fromEntries(entries) as Record<string, string>;
  return { ...object, metadata: { ...object.metadata, annotations } };
}
