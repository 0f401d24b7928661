// A controller process that ends after its n-th write. It runs in this process, so that sweeping over every n is quick:
// what makes it dead is a client on which nothing is heard any more.
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { ManagerOptions } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/client/client.ts';

const WRITES = new Set(['create', 'update', 'patch', 'delete']);
/** Events are written beside the work and in no fixed order: they do not count as a place to die. */
const UNCOUNTED = 'events';

/** A controller that is being killed and started again. */
export interface Phoenix {
  readonly lives: number;
  readonly idle: boolean;
  stop(): Promise<void>;
}

/**
 * Runs controllers through several lives: each ends after the given number of writes, the last lasts. The next life
 * begins as soon as the one before it is dead.
 */
export async function startPhoenix(
  options: Pick<ManagerOptions, 'client' | 'controllers' | 'clock'>,
  lifetimes: readonly number[],
): Promise<Phoenix> {
  const lives: { readonly manager: Manager; readonly client: MortalClient }[] = [];
  let starting = Promise.resolve();
  const begin = async (): Promise<void> => {
    const lifetime = lifetimes[lives.length] ?? Infinity;
    const mortal = new MortalClient(options.client, lifetime, () => void (starting = starting.then(begin)));
    const manager = new Manager({
      ...options,
      client: mortal.client,
      logger: createLogger({ level: 'silent' }),
    });
    const dead = lives.at(-1);
    lives.push({ manager, client: mortal });
    await manager.start();
    // What is left of the one before only costs.
    dead?.client.bury();
    await dead?.manager.stop();
  };
  await begin();
  return {
    get lives() {
      return lives.length;
    },
    get idle() {
      return lives.at(-1)!.manager.idle;
    },
    async stop() {
      await starting;
      for (const life of lives) life.client.bury();
      await Promise.all(lives.map(({ manager }) => manager.stop()));
    },
  };
}

/** A client whose process ends after a number of writes: the last one is done, but its answer is never seen. */
class MortalClient {
  readonly client: Client;
  readonly #onDeath: () => void;
  readonly #buried = Promise.withResolvers<never>();
  readonly #watches = new AbortController();
  #writesLeft: number;
  /** Whether a write was held back. */
  #isOver = false;
  #dead = false;

  constructor(client: Client, lifetime: number, onDeath: () => void) {
    this.#writesLeft = lifetime;
    this.#onDeath = onDeath;
    this.#buried.promise.catch(() => undefined);
    this.client = this.#wrap(client, '');
  }

  /** Lets go of all that waits for an answer, so that the rest of the dead process can be cleared away. */
  bury(): void {
    this.#dead = true;
    this.#watches.abort(new Error('the process has ended'));
    this.#buried.reject(new Error('the process has ended'));
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
    if (this.#dead) return this.#buried.promise;
    const counts = WRITES.has(method) && flow !== UNCOUNTED;
    // The write after the last is never sent, also when that one is still under way.
    if (counts && this.#writesLeft <= 0) {
      this.#isOver = true;
      return this.#buried.promise;
    }
    if (counts) this.#writesLeft--;
    if (method === 'watch') args = this.#deafen(args);
    const answer = await original(...args).catch((error: unknown) => {
      // A write that was refused changed nothing. But one that was never sent can't be sent any more.
      if (counts && !this.#isOver) this.#writesLeft++;
      else if (counts) this.#wrote();
      throw error;
    });
    if (counts) this.#wrote();
    return this.#dead ? this.#buried.promise : answer;
  }

  #wrote(): void {
    if (this.#writesLeft > 0 || this.#dead) return;
    this.#dead = true;
    this.#watches.abort(new Error('the process has ended'));
    this.#onDeath();
  }

  /** A watch of which nothing is heard once the process is dead. */
  #deafen([kind, options, onEvent]: unknown[]): unknown[] {
    const { signal } = options as { signal?: AbortSignal };
    const signals = signal === undefined ? [this.#watches.signal] : [this.#watches.signal, signal];
    const hear = onEvent as (event: unknown) => void;
    return [
      kind,
      { ...(options as object), signal: AbortSignal.any(signals) },
      (event: unknown) => void (this.#dead || hear(event)),
    ];
  }
}
