// What wakes a key while it writes down that it failed. The echo of that very write must not: the key would run again and
// again past its back-off. Everything else must, or it would be noticed only when the back-off is over.
import type { KubeObject } from '../kube/objects.ts';

/** To be called with what a write returned. */
export type Wrote = (object: KubeObject | undefined) => void;

export class Echoes {
  /** By key that is writing: what it wrote, and what has changed meanwhile, which may be the same. */
  readonly #writing = new Map<string, { readonly wrote: Set<string>; readonly changed: Set<string> }>();
  readonly #deliver: () => void;

  /** `deliver` wakes at once who would be woken later for what has changed by now. */
  constructor(deliver: () => void) {
    this.#deliver = deliver;
  }

  /** Whether it is not known yet what wakes the key: that is decided when it has written. */
  holds(key: string): boolean {
    return this.#writing.has(key);
  }

  /** Something that concerns the key has this value now; undefined where it is gone, or only may have changed. */
  note(key: string, value: unknown): void {
    this.#writing.get(key)?.changed.add(versionOf(value));
  }

  /** Runs what writes, and then wakes the key if anything has changed but what that `wrote`. */
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

/** A version of an object; of anything else, something that nobody writes. */
function versionOf(value: unknown): string {
  const { metadata } = (value ?? {}) as Partial<KubeObject>;
  return metadata === undefined ? 'other' : `${metadata.uid} ${metadata.resourceVersion}`;
}
