// The processes of a mesh: start, wait, keep logs, stop.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { guardProcesses, readLog, startProcess } from '../cluster/processes.ts';
import type { RunningProcess } from '../cluster/processes.ts';
import { poll } from '../scenarios/poll.ts';

const STOP_MS = 3_000;

/** Processes with one folder for their files; all of them end with this process. */
export class RunningPrograms {
  readonly dir = mkdtempSync(path.join(tmpdir(), 'offshoot-mesh-'));
  #running: RunningProcess[] = [];

  constructor() {
    guardProcesses(this.dir);
  }

  start(name: string, command: string, args: readonly string[], env?: NodeJS.ProcessEnv): void {
    this.#running.push(startProcess(this.dir, name, command, args, env));
  }

  /** Waits for a condition, and fails at once when a program has ended. */
  async until(what: string, condition: () => Promise<boolean>, deadlineMs: number): Promise<void> {
    try {
      await poll(async () => {
        const dead = this.#running.find((each) => each.ended() !== undefined);
        if (dead !== undefined)
          throw new Error(`${dead.name} ended (${dead.ended()}):\n${readLog(this.dir, dead.name).slice(-2_000)}`);
        return await condition();
      }, deadlineMs);
    } catch (error) {
      throw new Error(`gave up waiting for ${what}: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Copies the logs to a folder that is kept; returns its path. */
  keepLogs(): string {
    const kept = mkdtempSync(path.join(tmpdir(), 'offshoot-mesh-failed-'));
    cpSync(this.dir, kept, { recursive: true, filter: (file) => !file.endsWith('.pid') });
    return kept;
  }

  async end(name: string): Promise<void> {
    const ending = this.#running.filter((each) => each.name === name);
    this.#running = this.#running.filter((each) => each.name !== name);
    await Promise.all(ending.map((each) => each.stop(STOP_MS)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((each) => each.stop(STOP_MS)));
    rmSync(this.dir, { recursive: true, force: true });
  }
}
