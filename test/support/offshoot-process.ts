// Runs `offshoot` as a separate process, and collects its output.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';
import { until } from './until.ts';

const BIN = path.resolve(import.meta.dirname, '../../bin/offshoot.js');

export interface Running {
  readonly child: ChildProcess;
  /** The output so far. */
  readonly out: { stdout: string; stderr: string };
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Waits for the log line with this message, and returns its fields. */
  logged(message: string): Promise<Record<string, string>>;
}

/** Starts it with only these environment variables, and PATH. */
export function startOffshoot(args: readonly string[], env: NodeJS.ProcessEnv): Running {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (out.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (out.stderr += chunk.toString()));
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  const find = (message: string): string | undefined =>
    out.stderr
      .split('\n')
      .slice(0, -1) // the last line may be incomplete
      .find((line) => line.includes(`"msg":"${message}"`));
  return {
    child,
    out,
    exit,
    async logged(message) {
      await until(() => find(message) !== undefined || child.exitCode !== null, 60_000);
      const line = find(message);
      if (line === undefined) throw new Error(`the process ended before it said "${message}":\n${out.stderr}`);
      return JSON.parse(line) as Record<string, string>;
    },
  };
}
