// Child processes of a test cluster: logs and pid files in one folder, and a guard that kills them when the owner dies.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Waits until the owner is gone or has removed the folder, then kills what the pid files name and removes the folder.
 * It is a separate process because nothing inside the owner runs after the owner is killed.
 */
const guardScript = `
while [ -d "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 1; done
for file in "$1"/*.pid; do [ -f "$file" ] && kill -KILL "$(cat "$file")"; done
rm -rf "$1"`;

/** Starts the guard of a folder. Call it before the first `startProcess` there. */
export function guardProcesses(dir: string): void {
  // `detached`: a Ctrl-C in the terminal must not end the guard before it has cleaned up.
  spawn('sh', ['-c', guardScript, 'guard', dir, String(process.pid)], { detached: true, stdio: 'ignore' }).unref();
}

/** A running program of the cluster. */
export interface RunningProcess {
  readonly name: string;
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  /** The exit code or signal, once it has ended. */
  ended(): string | undefined;
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGTERM, and SIGKILL after the deadline. Resolves when it has exited. */
  stop(deadlineMs: number): Promise<void>;
}

/** Starts a program whose output goes to `NAME.log` in the folder. */
export function startProcess(
  dir: string,
  name: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): RunningProcess {
  const log = openSync(logFile(dir, name), 'a');
  const child = spawn(command, args, {
    cwd: dir,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const pidFile = path.join(dir, `${name}.pid`);
  if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid));
  child.unref();

  let end: string | undefined;
  const gone = new Promise<void>((resolve) => {
    const finish = (how: string): void => {
      end = how;
      rmSync(pidFile, { force: true });
      resolve();
    };
    child.once('error', (error) => finish(error.message));
    child.once('exit', (code, signal) => finish(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  return {
    name,
    pid: child.pid,
    ended: () => end,
    signal: (signal) => void child.kill(signal),
    stop: (deadlineMs) => stopChild(child, gone, deadlineMs),
  };
}

async function stopChild(child: ChildProcess, gone: Promise<void>, deadlineMs: number): Promise<void> {
  child.ref();
  child.kill('SIGTERM');
  child.kill('SIGCONT'); // a stopped process does not see SIGTERM
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  await gone;
  clearTimeout(timer);
}

/** Everything that a program of the cluster has written so far. */
export function readLog(dir: string, name: string): string {
  const file = logFile(dir, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function logFile(dir: string, name: string): string {
  return path.join(dir, `${name}.log`);
}
