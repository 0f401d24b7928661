// Watches several maps in one loop: every element is a consistent snapshot of all of them.
import { ConflatingStream } from './stream.ts';
import { MapSubscription } from './subscription.ts';
import type { ReadonlyWatchable, StateView, Update } from './types.ts';

type Maps = Readonly<Record<string, ReadonlyWatchable<unknown, unknown>>>;

/** The state of each map, by its name. */
export type StatesOf<M extends Maps> = {
  readonly [N in keyof M]: M[N] extends ReadonlyWatchable<infer K, infer V> ? StateView<K, V> : never;
};

/** The updates of each map, by its name. */
export type UpdatesOf<M extends Maps> = {
  readonly [N in keyof M]: M[N] extends ReadonlyWatchable<infer K, infer V> ? readonly Update<K, V>[] : never;
};

/** One element of a combined stream. */
export interface Combined<M extends Maps> {
  /** All maps, read at the same moment. */
  readonly state: StatesOf<M>;
  /** The maps that changed since the last element; all of them in the first. */
  readonly changed: ReadonlySet<keyof M>;
  readonly updates: UpdatesOf<M>;
  readonly initial: boolean;
}

/** How to combine; every field is optional. */
export interface CombineOptions {
  readonly signal?: AbortSignal;
  /** After a change, wait until nothing has changed for this long. Maps that never stop changing are never reported. */
  readonly settleMs?: number;
}

/**
 * One stream over several maps: one initial element, then one for all changes of a synchronous run, whichever maps they
 * touch. A map that is closed keeps its last state; the stream ends when all are closed.
 */
export function combine<M extends Maps>(
  maps: M,
  options: CombineOptions = {},
): AsyncIterableIterator<Combined<M>> & AsyncDisposable {
  return new CombinedStream(maps, options);
}

class CombinedStream<M extends Maps> extends ConflatingStream<Combined<M>> {
  readonly #sources = new Map<keyof M, MapSubscription<unknown, unknown>>();
  readonly #states = new Map<keyof M, StateView<unknown, unknown>>();
  readonly #names: readonly (keyof M)[];
  readonly #settleMs: number;
  #initial = true;
  #settled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(maps: M, { signal, settleMs = 0 }: CombineOptions) {
    super('the combined stream', signal);
    if (!(settleMs >= 0))
      throw new RangeError(`settleMs is ${settleMs}: it must be a number of milliseconds, 0 or more`);
    this.#names = Object.keys(maps);
    this.#settleMs = settleMs;
    if (this.ended) return;
    for (const name of this.#names) this.#follow(name, maps[name]!);
    this.#endWithSources();
  }

  take(): Combined<M> | undefined {
    if (!this.#initial && this.#settleMs > 0 && !this.#settled) return undefined;
    this.#settled = false;
    const changed = new Set<keyof M>(this.#initial ? this.#names : []);
    const updates = new Map<keyof M, readonly Update<unknown, unknown>[]>();
    for (const [name, source] of this.#sources) {
      const snapshot = source.take();
      if (snapshot === undefined) continue;
      this.#states.set(name, snapshot.state);
      updates.set(name, snapshot.updates);
      changed.add(name);
    }
    if (changed.size === 0) return undefined;
    const initial = this.#initial;
    this.#initial = false;
    return {
      state: this.#byName((name) => this.#states.get(name)) as StatesOf<M>,
      changed,
      updates: this.#byName((name) => updates.get(name) ?? []) as UpdatesOf<M>,
      initial,
    };
  }

  // Sources call `#changed` themselves.
  protected park(): void {}

  protected release(): void {
    clearTimeout(this.#timer);
    for (const source of this.#sources.values()) source.end();
    this.#sources.clear();
    this.#states.clear();
  }

  #follow(name: keyof M, map: ReadonlyWatchable<unknown, unknown>): void {
    // A map that is already closed contributes its final state.
    this.#states.set(name, map.loadAll());
    const source = map.subscribe();
    if (!(source instanceof MapSubscription)) {
      this.end();
      throw new TypeError(`combine: "${String(name)}" does not subscribe to a WatchableMap`);
    }
    if (source.ended) return;
    this.#sources.set(name, source);
    source.watch(() => {
      if (!source.ended) this.#changed();
      else if (this.#sources.delete(name)) this.#endWithSources();
    });
  }

  #endWithSources(): void {
    if (this.#sources.size === 0) this.end();
  }

  #changed(): void {
    if (this.#settleMs === 0) {
      this.deliver();
      return;
    }
    this.#settled = false;
    this.#timer ??= setTimeout(() => {
      this.#settled = true;
      this.deliver();
    }, this.#settleMs);
    this.#timer.refresh();
  }

  #byName<T>(value: (name: keyof M) => T): Record<keyof M, T> {
    return Object.fromEntries(this.#names.map((name) => [name, value(name)])) as Record<keyof M, T>;
  }
}
