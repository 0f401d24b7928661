// Runs one command to its end. The program sets in this folder use it.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from './programs.ts';

export interface CommandOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with every line of standard error. */
  readonly log?: Log;
}

/** Resolves with the standard output; an error has the last lines of standard error and the output. */
export async function run(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    options.log?.(line);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const output = Buffer.concat(chunks).toString();
  // `go mod download -json` reports a failure on standard output.
  if (code !== 0)
    throw new Error([`${command} ${args.slice(0, 2).join(' ')} failed`, ...lines.slice(-5), output].join('\n').trim());
  return output;
}
