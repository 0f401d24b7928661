// Delivers events to a watcher whose objects a webhook converts, in order. Events that arrive during a conversion are
// converted batchSize in the next one.
import { ensureConverted } from '../../conversion/forms.ts';
import type { Resource } from '../../resource.ts';
import type { Stored } from '../../store/types.ts';
import type { Cluster } from '../context.ts';

const batchSize = 500;

export class WatchFeed {
  readonly #cluster: Cluster;
  readonly #resource: Resource;
  readonly #onFailure: (error: unknown) => void;
  #waiting: { readonly states: readonly Stored[]; readonly deliver: () => void }[] = [];
  #busy = false;
  #ended = false;

  /** `onFailure` is called once, when a conversion fails; nothing is delivered after that. */
  constructor(cluster: Cluster, resource: Resource, onFailure: (error: unknown) => void) {
    this.#cluster = cluster;
    this.#resource = resource;
    this.#onFailure = onFailure;
  }

  /** True while there are undelivered events. */
  get isBehind(): boolean {
    return this.#busy;
  }

  /** Calls `deliver` once the states are converted, after everything that was pushed before. */
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
    // Events that are pushed synchronously after this one join the batch.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.splice(0, batchSize);
        const states = batch.flatMap((each) => each.states);
        await ensureConverted(this.#cluster, states, this.#resource);
        if (this.#ended) return;
        for (const { deliver } of batch) deliver();
      }
    } catch (error) {
      this.end();
      this.#onFailure(error);
    } finally {
      this.#busy = false;
    }
  }
}
