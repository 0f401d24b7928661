// One index of a table: finds the objects that a function gives a value for, without scanning the table.
import { EntryIndex } from '../../watchable/entry-index.ts';
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

export class ObjectIndex<T> {
  /** Throws what the index function throws. */
  readonly valuesOf: IndexFunction<T>;
  readonly #index = new EntryIndex<T>();

  constructor(valuesOf: IndexFunction<T>) {
    this.valuesOf = valuesOf;
  }

  /** The objects with this value, in the order of their keys. */
  get(value: string): readonly T[] {
    return this.#index.get(value).values;
  }

  /** Every value that has objects, sorted. */
  values(): string[] {
    return this.#index.filings();
  }

  /** Files the object that a key has now; undefined removes it. Throws what the index function throws, having removed it. */
  update(key: string, object: T | undefined): void {
    let values: readonly string[] = [];
    try {
      if (object !== undefined) values = this.valuesOf(object);
    } finally {
      this.#index.file(key, values, object);
    }
  }
}
