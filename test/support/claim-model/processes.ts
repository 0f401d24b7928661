// The controllers of the claim system as several processes, each of which can be stopped, started, or die after a write.
import { FakeClock } from '../fake-clock.ts';
import type { FakeApi } from '../fake-api.ts';
import { until } from '../until.ts';
import { createLogger, Manager } from '../../../src/controller/index.ts';
import type { ControllerDefinition } from '../../../src/controller/index.ts';
import type { Client } from '../../../src/kube/index.ts';
import { targets } from '../../../src/targets/index.ts';

/** Who runs together. */
const PROCESSES = {
  binder: ['binder'],
  reclaimer: ['reclaimer'],
  sandbox: ['devsandbox-request', 'devsandbox-target'],
  spaces: ['space-requests', 'spaces', 'space-completion'],
  namespaces: ['namespace-requests', 'namespace-places', 'namespace-release', 'namespace-pool', 'namespace-secrets'],
  environments: ['target-environments', 'managed-environments'],
} as const;

export type ProcessName = keyof typeof PROCESSES;
export const PROCESS_NAMES = Object.keys(PROCESSES) as ProcessName[];

/** The controllers of all processes. */
export function allControllers(): readonly ControllerDefinition[] {
  const names = new Set<string>(Object.values(PROCESSES).flat());
  return targets().filter((each) => names.has(each.name));
}

/** How many turns of the event loop without work mean that there is none. */
const QUIET_TURNS = 5;

interface Life {
  readonly manager: Manager;
  /** How many more writes it has. */
  writesLeft: number;
}

export class Processes {
  readonly clock = new FakeClock();
  readonly #api: FakeApi;
  readonly #lives = new Map<ProcessName, Life>();

  constructor(api: FakeApi) {
    this.#api = api;
  }

  get areAllRunning(): boolean {
    return PROCESS_NAMES.every((name) => this.#isAlive(name));
  }

  /** Starts it unless it runs; one that is doomed is spared. */
  async start(name: ProcessName): Promise<void> {
    if (this.#isAlive(name)) {
      this.#lives.get(name)!.writesLeft = Infinity;
      return;
    }
    const names: readonly string[] = PROCESSES[name];
    const life: { writesLeft: number } = { writesLeft: Infinity };
    const manager = new Manager({
      client: mortal(this.#api, life),
      controllers: targets().filter((each) => names.includes(each.name)),
      clock: this.clock,
      logger: createLogger({ level: 'silent' }),
    });
    this.#lives.set(name, Object.assign(life, { manager }));
    await manager.start();
  }

  async stop(name: ProcessName): Promise<void> {
    const life = this.#lives.get(name);
    this.#lives.delete(name);
    if (life === undefined) return;
    // One that is doomed might die while it stops, and never say so: it ends here.
    if (life.writesLeft === Infinity) await life.manager.stop();
    else life.writesLeft = 0;
  }

  /** The process will end with its n-th write from now: that is done, but it does not hear of it. */
  doom(name: ProcessName, writes: number): void {
    if (this.#isAlive(name)) this.#lives.get(name)!.writesLeft = writes;
  }

  /** Waits until those that run have nothing to do. */
  async settle(): Promise<void> {
    let quiet = 0;
    const isIdle = (): boolean =>
      [...this.#lives.values()].every(({ manager, writesLeft }) => writesLeft <= 0 || manager.idle);
    await until(() => (quiet = isIdle() ? quiet + 1 : 0) >= QUIET_TURNS);
  }

  #isAlive(name: ProcessName): boolean {
    return (this.#lives.get(name)?.writesLeft ?? 0) > 0;
  }
}

const WRITES = new Set(['create', 'update', 'patch', 'delete']);

/** A client that hears and says nothing any more once its writes are used up. */
function mortal(api: FakeApi, life: { writesLeft: number }): Client {
  const silence = new Promise<never>(() => {});
  const isDead = (): boolean => life.writesLeft <= 0;
  const client: Client = new Proxy<Client>(api, {
    get(target, method: string) {
      if (method === 'flow') return () => client;
      const original = Reflect.get(target, method) as (...args: unknown[]) => unknown;
      return async (...args: unknown[]) => {
        if (isDead()) return silence;
        if (method === 'watch') {
          const onEvent = args[2] as (event: unknown) => void;
          args[2] = (event: unknown) => void (isDead() || onEvent(event));
        }
        const answer = await original.apply(target, args);
        if (WRITES.has(method)) life.writesLeft--;
        return isDead() ? silence : answer;
      };
    },
  });
  return client;
}
