// One index of a table: finds the objects that a function gives a value for, without scanning the table.
import type { KubeObject } from './objects.ts';

/** The values under which an object is found. It must depend on the object alone. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Finds objects by the uid of any of their owners. */
export const byOwner: IndexFunction<KubeObject> = (object) =>
  (object.metadata.ownerReferences ?? []).map((owner) => owner.uid);

/** Finds objects by the value of one label. */
export function byLabel(name: string): IndexFunction<KubeObject> {
  return ({ metadata: { labels } }) => (labels && Object.hasOwn(labels, name) ? [labels[name]!] : []);
}

export class ObjectIndex<T> {
  /** Throws what the index function throws. */
  readonly valuesOf: IndexFunction<T>;
  readonly #buckets = new Map<string, Bucket<T>>();
  /** Under which values a key stands now: an index function that changes its mind must not leave entries behind. */
  readonly #filed = new Map<string, readonly string[]>();

  constructor(valuesOf: IndexFunction<T>) {
    this.valuesOf = valuesOf;
  }

  /** The objects with this value, in the order of their keys. */
  get(value: string): readonly T[] {
    return this.#buckets.get(value)?.objects() ?? [];
  }

  /** Every value that has objects, sorted. */
  values(): string[] {
    return [...this.#buckets.keys()].sort();
  }

  /** Files the object that a key has now; undefined removes it. Throws what the index function throws, having removed it. */
  update(key: string, object: T | undefined): void {
    let values: readonly string[] = [];
    try {
      if (object !== undefined) values = unique(this.valuesOf(object));
    } finally {
      this.#file(key, values, object);
    }
  }

  #file(key: string, values: readonly string[], object: T | undefined): void {
    const before = this.#filed.get(key) ?? [];
    for (const value of before) {
      if (values.includes(value)) continue;
      const bucket = this.#buckets.get(value)!;
      bucket.delete(key);
      if (bucket.empty) this.#buckets.delete(value);
    }
    for (const value of values) {
      let bucket = this.#buckets.get(value);
      if (!bucket) this.#buckets.set(value, (bucket = new Bucket()));
      bucket.set(key, object!);
    }
    if (values.length === 0) this.#filed.delete(key);
    else if (before.length !== values.length || !before.every((value, at) => value === values[at])) {
      this.#filed.set(key, values);
    }
  }
}

function unique(values: readonly string[]): readonly string[] {
  return values.length < 2 ? values : [...new Set(values)];
}

class Bucket<T> {
  readonly #byKey = new Map<string, T>();
  /** Made when it is read: readers between two changes share it. */
  #sorted: readonly T[] | undefined;

  get empty(): boolean {
    return this.#byKey.size === 0;
  }

  set(key: string, object: T): void {
    this.#byKey.set(key, object);
    this.#sorted = undefined;
  }

  delete(key: string): void {
    this.#byKey.delete(key);
    this.#sorted = undefined;
  }

  objects(): readonly T[] {
    return (this.#sorted ??= Object.freeze(
      [...this.#byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object),
    ));
  }
}
