// `deriveAsync`: values that take a while to compute, such as the output of a program. A read returns the state of the
// computation and the last result, so that nobody deletes something because its replacement is not ready yet.
import { jsonEqual } from '../equal.ts';
import { deepFreeze } from '../freeze.ts';
import type { Id } from '../hash.ts';
import { STALE, Subject } from '../reads/subject.ts';
import type { Reads } from '../reads/subject.ts';
import { deriveFrom } from './derive.ts';
import type { DerivedMap, DeriveKeyedOptions } from './derived-map.ts';
import type { Compute, ComputeWith, DerivedValues, DeriveOptions } from './derived-values.ts';

/** The state of a computation; `value` is the last result, of this input or of an earlier one. */
export type Computed<V> =
  | { readonly state: 'pending'; readonly value?: V }
  | { readonly state: 'ready'; readonly value: V }
  | { readonly state: 'failed'; readonly error: string; readonly value?: V };

/** Computes a value from an input. The signal aborts when the input changes, or nobody reads the value any longer. */
export type ComputeAsync<K, I, V> = (input: I, context: { key: K; signal: AbortSignal }) => Promise<V>;

/** Schedules retries; tests pass a fake one. */
export interface RetryClock {
  setTimeout(run: () => void, ms: number): { cancel(): void };
}

export interface AsyncOptions<K, V> extends Omit<DeriveOptions<K, Computed<V>>, 'equals'> {
  /** Whether a new result equals the one before, so that its readers are not woken. Default: `jsonEqual`. */
  readonly equals?: (a: V, b: V) => boolean;
  /** The backoff before a failed computation is retried; it doubles with each failure. Default: 1 s to 5 min. */
  readonly retry?: { readonly initialMs: number; readonly maxMs: number };
  readonly clock?: RetryClock;
}

type KeyedAsyncOptions<K, V> = AsyncOptions<K, V> & Pick<DeriveKeyedOptions<K, Computed<V>>, 'keys' | 'indexes'>;

/**
 * A map of values that are computed asynchronously, from an input that is read like any derived value. When the input
 * changes, the running computation is cancelled and a new one starts; a failed computation is retried.
 */
export function deriveAsync<K, I, V>(
  name: string,
  input: Compute<K, I>,
  compute: ComputeAsync<K, I, V>,
  options: KeyedAsyncOptions<K, V>,
): DerivedMap<K, Computed<V>>;
export function deriveAsync<K, I, V>(
  name: string,
  input: Compute<K, I>,
  compute: ComputeAsync<K, I, V>,
  options?: AsyncOptions<K, V>,
): DerivedValues<K, Computed<V>>;
export function deriveAsync<K, I, V>(
  name: string,
  input: Compute<K, I>,
  compute: ComputeAsync<K, I, V>,
  options: AsyncOptions<K, V> | KeyedAsyncOptions<K, V> = {},
): DerivedMap<K, Computed<V>> | DerivedValues<K, Computed<V>> {
  const { equals = jsonEqual, ...others } = options;
  const isSame = (a: Computed<V>, b: Computed<V>): boolean =>
    jsonEqual({ ...a, value: undefined }, { ...b, value: undefined }) &&
    (a.value === b.value || (a.value !== undefined && b.value !== undefined && equals(a.value, b.value)));
  return deriveFrom({
    name,
    compute: () => computeThroughTasks(input, compute, options),
    options: { ...others, equals: isSame },
  });
}

function computeThroughTasks<K, I, V>(
  input: Compute<K, I>,
  compute: ComputeAsync<K, I, V>,
  options: AsyncOptions<K, V>,
): ComputeWith<K, Computed<V>> {
  const tasks = new Map<Id, Task<I, V>>();
  const taskOf = (key: K, reads: Reads): Task<I, V> => {
    const id = options.key === undefined ? key : options.key(key);
    let task = tasks.get(id);
    if (task === undefined) {
      const run = (value: I, signal: AbortSignal): Promise<V> => compute(value, { key, signal });
      tasks.set(id, (task = new Task(run, options, () => tasks.delete(id))));
    }
    reads.add(task);
    return task;
  };
  return (read, key, reads) => {
    let value: I | undefined;
    try {
      value = input(read, key);
    } catch (error) {
      return taskOf(key, reads).refuse(error);
    }
    return value === undefined ? undefined : taskOf(key, reads).take(value);
  };
}

const systemClock: RetryClock = {
  setTimeout(run, ms) {
    const timer = setTimeout(run, ms).unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

type TaskOptions = Pick<AsyncOptions<never, never>, 'isolate' | 'retry' | 'clock'>;

/** The computation of one key; at most one runs at a time. */
class Task<I, V> extends Subject {
  readonly #compute: (input: I, signal: AbortSignal) => Promise<V>;
  readonly #options: TaskOptions;
  readonly #drop: () => void;
  #state: Computed<V> = { state: 'pending' };
  #input: I | undefined;
  #running = new AbortController();
  #retry: { cancel(): void } | undefined;
  #failures = 0;

  constructor(compute: (input: I, signal: AbortSignal) => Promise<V>, options: TaskOptions, drop: () => void) {
    super();
    this.#compute = compute;
    this.#options = options;
    this.#drop = drop;
  }

  /** The state for this input; starts over if the input has changed. */
  take(input: I): Computed<V> {
    if (this.#input !== undefined && jsonEqual(this.#input, input)) return this.#state;
    this.#input = input;
    this.#failures = 0;
    this.#state = { state: 'pending', ...this.#last() };
    // Runs in a later microtask: the computation that called this must not see side effects of the function.
    void this.#run(input, this.#begin());
    return this.#state;
  }

  /** Fails, because the input could not be computed. */
  refuse(error: unknown): Computed<V> {
    this.#input = undefined;
    this.#begin();
    return (this.#state = this.#failed(error));
  }

  refresh(): void {}

  protected unread(): void {
    this.#end('nobody reads the value any more');
    this.#drop();
  }

  #end(why: string): void {
    this.#retry?.cancel();
    this.#running.abort(new Error(why));
  }

  #begin(): AbortSignal {
    this.#end('the input has changed');
    this.#running = new AbortController();
    return this.#running.signal;
  }

  async #run(input: I, signal: AbortSignal): Promise<void> {
    await Promise.resolve();
    if (signal.aborted) return;
    let state: Computed<V>;
    try {
      const value = await this.#compute(input, signal);
      state = { state: 'ready', value: this.#options.isolate === 'none' ? value : deepFreeze(value) };
    } catch (error) {
      state = this.#failed(error);
    }
    if (signal.aborted) return;
    this.#state = state;
    if (state.state === 'failed') this.#retryLater(input, signal);
    this.mark(STALE);
  }

  #retryLater(input: I, signal: AbortSignal): void {
    const { retry = { initialMs: 1_000, maxMs: 300_000 }, clock = systemClock } = this.#options;
    const delay = Math.min(retry.initialMs * 2 ** this.#failures++, retry.maxMs);
    this.#retry = clock.setTimeout(() => void this.#run(input, signal), delay);
  }

  #failed(error: unknown): Computed<V> {
    return { state: 'failed', error: error instanceof Error ? error.message : String(error), ...this.#last() };
  }

  #last(): { readonly value?: V } {
    return this.#state.value === undefined ? {} : { value: this.#state.value };
  }
}
