// How events come to one watcher: at once, or, where a webhook has to convert them first, in order as it answers. What
// happens while it is asked is converted together afterwards.
import { converting } from '../conversion/forms.ts';
import type { Resource } from '../resource.ts';
import type { Stored } from '../store/types.ts';
import type { Cluster } from './context.ts';

const together = 500;

export class WatchFeed {
  readonly #cluster: Cluster;
  readonly #resource: Resource;
  readonly #onFailure: (error: unknown) => void;
  #waiting: { readonly states: readonly Stored[]; readonly deliver: () => void }[] = [];
  #busy = false;
  #ended = false;

  /** `onFailure` is told, once, that a webhook does not convert; nothing is delivered after that. */
  constructor(cluster: Cluster, resource: Resource, onFailure: (error: unknown) => void) {
    this.#cluster = cluster;
    this.#resource = resource;
    this.#onFailure = onFailure;
  }

  /** True while there is something that the watcher has not been told. */
  get isBehind(): boolean {
    return this.#busy;
  }

  /** Calls `deliver` as soon as the states can be read, after all that was pushed before. */
  push(states: readonly Stored[], deliver: () => void): void {
    this.#waiting.push({ states, deliver });
    if (!this.#busy) void this.#work();
  }

  end(): void {
    this.#ended = true;
    this.#waiting = [];
  }

  async #work(): Promise<void> {
    this.#busy = true;
    // Whatever this very step still pushes is converted with it.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        const turn = this.#waiting.splice(0, together);
        const states = turn.flatMap((each) => each.states);
        await converting(this.#cluster, states, this.#resource);
        if (this.#ended) return;
        for (const { deliver } of turn) deliver();
      }
    } catch (error) {
      this.end();
      this.#onFailure(error);
    } finally {
      this.#busy = false;
    }
  }
}
