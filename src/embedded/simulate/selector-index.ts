// Finds the objects whose selectors match given labels without asking each of them: every selector is filed under one
// label that it requires, and a look-up visits the files of the labels at hand. Used to wake controllers.
import { matches } from '../../kube/selector.ts';
import type { Selector } from '../../kube/selector.ts';
import type { Labels } from '../kinds/types.ts';

interface Entry {
  readonly key: string;
  readonly selector: Selector;
  readonly files: readonly string[];
}

export class SelectorIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #files = new Map<string, Set<Entry>>();

  /** Files the selector of an object, in place of the one that it had; undefined selects nothing. */
  set(key: string, namespace: string, selector: Selector | undefined): void {
    const old = this.#entries.get(key);
    for (const file of old?.files ?? []) {
      const entries = this.#files.get(file);
      entries?.delete(old!);
      if (entries?.size === 0) this.#files.delete(file);
    }
    this.#entries.delete(key);
    if (selector === undefined) return;
    const entry = { key, selector, files: filesOf(namespace, selector) };
    this.#entries.set(key, entry);
    for (const file of entry.files) {
      const entries = this.#files.get(file) ?? new Set();
      this.#files.set(file, entries.add(entry));
    }
  }

  /** The keys of the objects in a namespace whose selectors match the labels. */
  matching(namespace: string, labels: Labels = {}): string[] {
    if (this.#entries.size === 0) return [];
    const found: string[] = [];
    const files = [namespace, ...Object.entries(labels).map(([name, value]) => `${namespace} ${name}=${value}`)];
    for (const file of files) {
      for (const entry of this.#files.get(file) ?? []) {
        if (matches(entry.selector, labels)) found.push(entry.key);
      }
    }
    return found;
  }
}

/** One file a value of the first label that must have one of some values; else the file of the whole namespace. */
function filesOf(namespace: string, selector: Selector): string[] {
  const required = selector.find(({ operator }) => operator === 'In');
  return required === undefined ? [namespace] : required.values.map((value) => `${namespace} ${required.key}=${value}`);
}
