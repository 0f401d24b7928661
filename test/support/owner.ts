// A process that starts others, for tests that those end when it is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Runs TypeScript that prints one line when it has started and then waits; resolves with the line. */
export async function startOwner(source: string): Promise<{ readonly line: string; readonly kill: () => void }> {
  const waiting = `${source}\nsetInterval(() => undefined, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module-typescript', '-e', waiting], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string];
  return { line, kill: () => void owner.kill('SIGKILL') };
}
