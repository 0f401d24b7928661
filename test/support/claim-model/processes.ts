// The controllers of claims as several processes, each of which can be stopped, started, or crash after a write.
import { crashingClient } from '../crashing-client.ts';
import { FakeClock } from '../fake-clock.ts';
import type { FakeApi } from '../fake-api.ts';
import { until } from '../until.ts';
import { createLogger, Manager } from '../../../src/controller/index.ts';
import type { ControllerDefinition } from '../../../src/controller/index.ts';
import { targets } from '../../../src/targets/index.ts';

/** The controllers of each process. */
const PROCESSES = {
  binder: ['binder'],
  reclaimer: ['reclaimer'],
  sandbox: ['devsandbox-request', 'devsandbox-target'],
  spaces: ['space-requests', 'spaces', 'space-completion'],
  namespaces: ['namespace-requests', 'namespace-targets', 'namespace-release', 'namespace-pool', 'namespace-secrets'],
  environments: ['target-environments', 'managed-environments'],
} as const;

export type ProcessName = keyof typeof PROCESSES;
export const PROCESS_NAMES = Object.keys(PROCESSES) as ProcessName[];

/** The controllers of all processes. */
export function allControllers(): readonly ControllerDefinition[] {
  const names = new Set<string>(Object.values(PROCESSES).flat());
  return targets().filter((each) => names.has(each.name));
}

/** After so many idle turns of the event loop, everything has settled. */
const QUIET_TURNS = 5;

interface Process {
  readonly manager: Manager;
  /** The process crashes after so many writes. */
  writesLeft: number;
}

export class Processes {
  readonly clock = new FakeClock();
  readonly #api: FakeApi;
  readonly #processes = new Map<ProcessName, Process>();

  constructor(api: FakeApi) {
    this.#api = api;
  }

  get areAllRunning(): boolean {
    return PROCESS_NAMES.every((name) => this.#isAlive(name));
  }

  /** Starts a process unless it runs; cancels a planned crash. */
  async start(name: ProcessName): Promise<void> {
    if (this.#isAlive(name)) {
      this.#processes.get(name)!.writesLeft = Infinity;
      return;
    }
    const names: readonly string[] = PROCESSES[name];
    const process: { writesLeft: number } = { writesLeft: Infinity };
    const manager = new Manager({
      client: crashingClient(this.#api, process),
      controllers: targets().filter((each) => names.includes(each.name)),
      clock: this.clock,
      logger: createLogger({ level: 'silent' }),
    });
    this.#processes.set(name, Object.assign(process, { manager }));
    await manager.start();
  }

  async stop(name: ProcessName): Promise<void> {
    const process = this.#processes.get(name);
    this.#processes.delete(name);
    if (process === undefined) return;
    // A process with a planned crash might crash while it stops, and never resolve: it crashes now.
    if (process.writesLeft === Infinity) await process.manager.stop();
    else process.writesLeft = 0;
  }

  /** Plans a crash after the n-th write from now: the write is done, but the process never sees the response. */
  doom(name: ProcessName, writes: number): void {
    if (this.#isAlive(name)) this.#processes.get(name)!.writesLeft = writes;
  }

  /** Waits until all running processes are idle. */
  async settle(): Promise<void> {
    let quiet = 0;
    const isIdle = (): boolean =>
      [...this.#processes.values()].every(({ manager, writesLeft }) => writesLeft <= 0 || manager.idle);
    await until(() => (quiet = isIdle() ? quiet + 1 : 0) >= QUIET_TURNS);
  }

  #isAlive(name: ProcessName): boolean {
    return (this.#processes.get(name)?.writesLeft ?? 0) > 0;
  }
}
