// Finds the objects whose selectors match given labels without checking all of them: every selector is in the bucket of
// one label that it requires, and a look-up reads only the buckets of the given labels. Used to enqueue controllers.
import { matches } from '../../kube/selector.ts';
import type { Selector } from '../../kube/selector.ts';
import type { Labels } from '../kinds/types.ts';

interface Entry {
  readonly key: string;
  readonly selector: Selector;
  readonly buckets: readonly string[];
}

export class SelectorIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #buckets = new Map<string, Set<Entry>>();

  /** Sets the selector of an object, and replaces its previous one; undefined selects nothing. */
  set(key: string, namespace: string, selector: Selector | undefined): void {
    const old = this.#entries.get(key);
    for (const bucket of old?.buckets ?? []) {
      const entries = this.#buckets.get(bucket);
      entries?.delete(old!);
      if (entries?.size === 0) this.#buckets.delete(bucket);
    }
    this.#entries.delete(key);
    if (selector === undefined) return;
    const entry = { key, selector, buckets: bucketsOf(namespace, selector) };
    this.#entries.set(key, entry);
    for (const bucket of entry.buckets) {
      const entries = this.#buckets.get(bucket) ?? new Set();
      this.#buckets.set(bucket, entries.add(entry));
    }
  }

  /** The keys of the objects in a namespace whose selectors match the labels. */
  matching(namespace: string, labels: Labels = {}): string[] {
    if (this.#entries.size === 0) return [];
    const found: string[] = [];
    const buckets = [namespace, ...Object.entries(labels).map(([name, value]) => `${namespace} ${name}=${value}`)];
    for (const bucket of buckets) {
      for (const entry of this.#buckets.get(bucket) ?? []) {
        if (matches(entry.selector, labels)) found.push(entry.key);
      }
    }
    return found;
  }
}

/** The buckets for the values of the first requirement with `In`; without one, the bucket of the whole namespace. */
function bucketsOf(namespace: string, selector: Selector): string[] {
  const required = selector.find(({ operator }) => operator === 'In');
  return required === undefined ? [namespace] : required.values.map((value) => `${namespace} ${required.key}=${value}`);
}
