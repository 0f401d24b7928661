// Decides what wakes a key while its failure is written. The event of that write must not: the key would run again and
// again despite its backoff. Every other event must, or it would be noticed only after the backoff.
import type { KubeObject } from '../kube/objects.ts';

/** Must be called with the object that a write returned. */
export type Wrote = (object: KubeObject | undefined) => void;

export class Echoes {
  /** For each key that is writing: the versions that it wrote, and those that changed meanwhile. */
  readonly #writing = new Map<string, { readonly wrote: Set<string>; readonly changed: Set<string> }>();
  readonly #deliver: () => void;

  /** `deliver` wakes readers of changes so far at once. */
  constructor(deliver: () => void) {
    this.#deliver = deliver;
  }

  /** Whether the key is writing: whether to wake it is decided afterwards. */
  holds(key: string): boolean {
    return this.#writing.has(key);
  }

  /** Records a change that the key depends on, with the new value; undefined if deleted or not known. */
  note(key: string, value: unknown): void {
    this.#writing.get(key)?.changed.add(versionOf(value));
  }

  /** Runs `write`, and then wakes the key if anything has changed except what it `wrote`. */
  async during<R>(key: string, write: (wrote: Wrote) => Promise<R>, wake: () => void): Promise<R> {
    const writing = { wrote: new Set<string>(), changed: new Set<string>() };
    this.#writing.set(key, writing);
    try {
      return await write((object) => void writing.wrote.add(versionOf(object)));
    } finally {
      this.#deliver();
      this.#writing.delete(key);
      if (!writing.changed.isSubsetOf(writing.wrote)) wake();
    }
  }
}

/** The version of an object; for anything else, a value that no write has. */
function versionOf(value: unknown): string {
  const { metadata } = (value ?? {}) as Partial<KubeObject>;
  return metadata === undefined ? 'other' : `${metadata.uid} ${metadata.resourceVersion}`;
}
