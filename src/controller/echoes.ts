// What wakes a key while it writes down that it failed. The echo of that very write must not: the key would run again and
// again past its back-off. Everything else must, or it would be noticed only when the back-off is over.
import type { KubeObject } from '../kube/objects.ts';

/** To be called with what a write returned. */
export type Wrote = (object: KubeObject | undefined) => void;

export class Echoes {
  /** By key that is writing: what it wrote, and what has changed meanwhile, which may be the same. */
  readonly #writing = new Map<string, { readonly wrote: Set<string>; readonly changed: Set<string> }>();

  /** Keeps a change back while it is not known whether the key made it itself. Says whether it did. */
  holds(key: string, object: KubeObject | undefined): boolean {
    const writing = this.#writing.get(key);
    writing?.changed.add(versionOf(object));
    return writing !== undefined;
  }

  /** Runs what writes, and then wakes the key if anything has changed but what that `wrote`. */
  async during<R>(key: string, write: (wrote: Wrote) => Promise<R>, wake: () => void): Promise<R> {
    const writing = { wrote: new Set<string>(), changed: new Set<string>() };
    this.#writing.set(key, writing);
    try {
      return await write((object) => void writing.wrote.add(versionOf(object)));
    } finally {
      this.#writing.delete(key);
      if (!writing.changed.isSubsetOf(writing.wrote)) wake();
    }
  }
}

/** A version of an object; of one that is gone, something that nobody writes. */
function versionOf(object: KubeObject | undefined): string {
  return object === undefined ? 'gone' : `${object.metadata.uid} ${object.metadata.resourceVersion}`;
}
