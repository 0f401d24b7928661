// Calls a handler for each key that changed in a subscription. This is how components consume a map.
import { ClosedError } from './errors.ts';
import { folded } from './fold.ts';
import type { HandlerLabels, WatchableMetrics } from './metrics.ts';
import { takeTurn } from './pace.ts';
import { MapSubscription } from './subscription.ts';
import type { Snapshot, Update } from './types.ts';

/** Where failures are written; a pino logger fits. */
export interface Logger {
  error(fields: object, text: string): void;
}

/** What a handler receives besides the update. */
export interface HandlerContext {
  /** The signal of the subscription, if it has one. */
  readonly signal?: AbortSignal;
  /** Reports an error that does not stop the handler. */
  readonly error: (error: unknown) => void;
}

export interface HandleOptions {
  /** The component, and what it handles: labels for logs and metrics. */
  readonly runner: string;
  readonly message: string;
  /** Default: the console. */
  readonly logger?: Logger;
  readonly metrics?: WatchableMetrics;
  /** How many different keys may be handled at once. Default 1: strictly in order. */
  readonly concurrency?: number;
}

const toConsole: Logger = { error: (fields, text) => console.error(text, fields) };

/**
 * Calls the handler for every entry of the first snapshot, then for the last update of each key that changed, and takes
 * the next snapshot when all calls have finished. A handler that throws is logged and counted, and the loop goes on.
 * Returns when the stream ends; an abort also skips the calls that are still to come.
 */
export async function handleSubscription<K, V>(
  subscription: AsyncIterable<Snapshot<K, V>>,
  handle: (update: Update<K, V>, context: HandlerContext) => void | Promise<void>,
  options: HandleOptions,
): Promise<void> {
  const { concurrency = 1 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(`concurrency is ${concurrency}: it must be a whole number, at least 1`);
  }
  const source = subscription instanceof MapSubscription ? (subscription as MapSubscription<K, V>) : undefined;
  const run = new Run<K, V>(handle, options, source);
  try {
    run.reportDepth();
    for await (const snapshot of subscription) {
      const updates = snapshot.initial ? replay(snapshot) : lastPerKey(snapshot.updates, (key) => run.identify(key));
      await inParallel(concurrency, updates, (update) => run.call(update));
      run.reportDepth();
    }
  } finally {
    run.over = true;
  }
}

// The state already contains the first snapshot's updates: handling those as well would act twice.
function* replay<K, V>({ state }: Snapshot<K, V>): Iterable<Update<K, V>> {
  for (const [key, value] of state) yield { key, delete: false, value };
}

// Ordered by the last occurrence of each key.
function lastPerKey<K, V>(updates: readonly Update<K, V>[], identify: (key: K) => unknown): Iterable<Update<K, V>> {
  const last = new Map<unknown, Update<K, V>>();
  for (const update of updates) {
    const id = identify(update.key);
    const earlier = last.get(id);
    if (earlier !== undefined) last.delete(id);
    last.set(id, earlier === undefined ? update : folded(earlier, update));
  }
  return last.values();
}

// The workers share one iterator. A key occurs once in it and snapshots do not overlap, so no key runs twice at once.
async function inParallel<T>(workers: number, items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]();
  const drain = async (): Promise<void> => {
    for (let step = iterator.next(); step.done !== true; step = iterator.next()) await work(step.value);
  };
  await Promise.all(Array.from({ length: workers }, drain));
}

class Run<K, V> {
  /** Set when the loop has returned; errors reported later are ignored. */
  over = false;
  readonly #handle: (update: Update<K, V>, context: HandlerContext) => void | Promise<void>;
  readonly #source: MapSubscription<K, V> | undefined;
  readonly #logger: Logger;
  readonly #metrics: WatchableMetrics | undefined;
  readonly #labels: HandlerLabels;

  constructor(
    handle: (update: Update<K, V>, context: HandlerContext) => void | Promise<void>,
    { runner, message, logger = toConsole, metrics }: HandleOptions,
    source: MapSubscription<K, V> | undefined,
  ) {
    this.#handle = handle;
    this.#source = source;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#labels = { runner, message };
  }

  identify(key: K): unknown {
    return this.#source === undefined ? key : this.#source.identify(key);
  }

  reportDepth(): void {
    if (this.#source !== undefined) this.#metrics?.depth(this.#labels, this.#source.lag);
  }

  async call(update: Update<K, V>): Promise<void> {
    if (this.#aborted) return;
    // A long replay through a fast handler is one chain of promise reactions; let the event loop turn in between.
    await takeTurn();
    if (this.#aborted) return;
    this.#metrics?.event(this.#labels, update.delete ? 'delete' : 'update');
    let clean = true;
    const report = (error: unknown): void => {
      clean = false;
      this.#failed(error, 'error', update.key);
    };
    const started = performance.now();
    try {
      await this.#handle(update, { signal: this.#source?.signal, error: report });
    } catch (error) {
      clean = false;
      if (!this.#isShutdown(error)) this.#failed(error, 'panic', update.key);
    }
    this.#metrics?.duration(this.#labels, (performance.now() - started) / 1000);
    if (clean) this.#metrics?.succeeded(this.#labels);
  }

  get #aborted(): boolean {
    return this.#source?.signal?.aborted === true;
  }

  // During shutdown a component may publish into a map that its owner has already closed.
  #isShutdown(error: unknown): boolean {
    return error instanceof ClosedError && this.#source?.ended === true;
  }

  #failed(thrown: unknown, reason: 'error' | 'panic', key: K): void {
    if (this.over) return;
    const err = thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
    const text = reason === 'panic' ? 'handler threw; continuing with the next update' : 'handler reported an error';
    this.#logger.error({ ...this.#labels, key, err }, text);
    this.#metrics?.failed(this.#labels, reason);
    if (reason === 'panic') this.#metrics?.panicRecovered(this.#labels);
  }
}
