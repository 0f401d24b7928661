// Runs `offshoot` as a process with piped output and a kubeconfig. For tests of the command line.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Runner {
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ran>;
  /** Starts a command without waiting for it. */
  start(...args: string[]): {
    readonly child: ChildProcess;
    readonly ended: Promise<Ran>;
    readonly output: () => string;
  };
}

const BIN = path.resolve(import.meta.dirname, '../../../bin/offshoot.js');

/** Runs commands for the cluster of a kubeconfig file. */
export function runnerFor(kubeconfig: string): Runner {
  const start: Runner['start'] = (...args) => {
    const env = { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: undefined, FORCE_COLOR: undefined };
    const child = spawn(process.execPath, [BIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    const ended = new Promise<Ran>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
    return { child, ended, output: () => stdout + stderr };
  };
  return { start, run: (...args) => start(...args).ended };
}
