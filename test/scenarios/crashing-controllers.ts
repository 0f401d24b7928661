// A controller process that crashes after its n-th write. It runs in this process, so that a sweep over every n is
// fast: the crash is simulated by a client that no longer answers.
import { setTimeout } from 'node:timers/promises';
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { ManagerOptions } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/client/client.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete']);
/** Events are written in the background and in no fixed order: they do not count. */
const UNCOUNTED = 'events';

/** Delays requests, answers and events at random, for orders that a quiet machine does not show; `npm run soak` does. */
export const JITTER_MS = Number(process.env['OFFSHOOT_JITTER_MS'] ?? 0);

async function jitter(): Promise<void> {
  if (JITTER_MS === 0 || Math.random() < 0.5) return;
  await setTimeout(Math.random() * JITTER_MS * (Math.random() < 0.1 ? 5 : 1));
}

/** Controllers that crash and are restarted. */
export interface CrashingControllers {
  readonly starts: number;
  readonly idle: boolean;
  stop(): Promise<void>;
}

/**
 * Starts controllers again and again: each run crashes after the given number of writes, except for the last. The next
 * one starts as soon as the one before it has crashed.
 */
export async function startCrashing(
  options: Pick<ManagerOptions, 'client' | 'controllers' | 'clock'>,
  writesUntilCrash: readonly number[],
): Promise<CrashingControllers> {
  const runs: { readonly manager: Manager; readonly client: CrashingClient }[] = [];
  let starting = Promise.resolve();
  const begin = async (): Promise<void> => {
    const writes = writesUntilCrash[runs.length] ?? Infinity;
    const crashing = new CrashingClient(options.client, writes, () => void (starting = starting.then(begin)));
    const manager = new Manager({
      ...options,
      client: crashing.client,
      logger: createLogger({ level: 'silent' }),
    });
    const crashed = runs.at(-1);
    runs.push({ manager, client: crashing });
    await manager.start();
    // Stops what is left of the crashed one.
    crashed?.client.rejectPending();
    await crashed?.manager.stop();
  };
  await begin();
  return {
    get starts() {
      return runs.length;
    },
    get idle() {
      return runs.at(-1)!.manager.idle;
    },
    async stop() {
      await starting;
      for (const run of runs) run.client.rejectPending();
      await Promise.all(runs.map(({ manager }) => manager.stop()));
    },
  };
}

/** A client that crashes after a number of writes: the last one reaches the server, but its response is never seen. */
class CrashingClient {
  readonly client: Client;
  readonly #onCrash: () => void;
  readonly #pending = Promise.withResolvers<never>();
  readonly #watches = new AbortController();
  #writesLeft: number;
  /** Whether a write was attempted after the last one. */
  #isOver = false;
  #crashed = false;

  constructor(client: Client, writes: number, onCrash: () => void) {
    this.#writesLeft = writes;
    this.#onCrash = onCrash;
    this.#pending.promise.catch(() => undefined);
    this.client = this.#wrap(client, '');
  }

  /** Rejects all pending calls, so that the crashed controllers can be stopped. */
  rejectPending(): void {
    this.#crashed = true;
    this.#watches.abort(new Error('the process has ended'));
    this.#pending.reject(new Error('the process has ended'));
  }

  #wrap(client: Client, flow: string): Client {
    return new Proxy(client, {
      get: (target, method: string) => {
        if (method === 'flow') return (name: string) => this.#wrap(target.flow(name), name);
        const original = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => this.#call(original.bind(target), method, args, flow);
      },
    });
  }

  async #call(
    original: (...args: unknown[]) => Promise<unknown>,
    method: string,
    args: unknown[],
    flow: string,
  ): Promise<unknown> {
    if (this.#crashed) return this.#pending.promise;
    const counts = WRITES.has(method) && flow !== UNCOUNTED;
    // The write after the last is never sent, even if the last is still in flight.
    if (counts && this.#writesLeft <= 0) {
      this.#isOver = true;
      return this.#pending.promise;
    }
    if (counts) this.#writesLeft--;
    if (method === 'watch') args = this.#muteAfterCrash(args);
    await jitter();
    const answer = await original(...args).catch((error: unknown) => {
      // A rejected write changed nothing and does not count, unless a later write has already been held back.
      if (counts && !this.#isOver) this.#writesLeft++;
      else if (counts) this.#wrote();
      throw error;
    });
    await jitter();
    if (counts) this.#wrote();
    return this.#crashed ? this.#pending.promise : answer;
  }

  #wrote(): void {
    if (this.#writesLeft > 0 || this.#crashed) return;
    this.#crashed = true;
    this.#watches.abort(new Error('the process has ended'));
    this.#onCrash();
  }

  /** A watch that delivers nothing after the crash. */
  #muteAfterCrash([kind, options, onEvent]: unknown[]): unknown[] {
    const { signal } = options as { signal?: AbortSignal };
    const signals = signal === undefined ? [this.#watches.signal] : [this.#watches.signal, signal];
    const deliver = onEvent as (event: unknown) => void;
    let delivered = Promise.resolve();
    return [
      kind,
      { ...(options as object), signal: AbortSignal.any(signals) },
      (event: unknown) => {
        if (JITTER_MS === 0) return this.#crashed || deliver(event);
        delivered = delivered.then(jitter).then(() => void (this.#crashed || deliver(event)));
      },
    ];
  }
}
