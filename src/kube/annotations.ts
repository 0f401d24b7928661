// Changes annotations of an object without touching those of others.

/** Annotations to set; `undefined` removes one, and so does `null`, as in a merge patch. */
export type AnnotationChanges = Readonly<Record<string, string | null | undefined>>;

/** An object, or a template of one. */
interface Annotated {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
}

/** The object with some annotations set, changed or removed. */
export function withAnnotations<T extends Annotated>(object: T, changes: AnnotationChanges): T {
  const before = object.metadata?.annotations;
  const entries = Object.entries({ ...before, ...changes }).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  if (before === undefined && entries.length === 0) return object;
  const annotations = Object.fromEntries(entries) as Record<string, string>;
  return { ...object, metadata: { ...object.metadata, annotations } };
}
