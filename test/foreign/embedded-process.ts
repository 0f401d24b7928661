// An embedded cluster without controllers in a separate process, as users run it: suites that wait for a response are
// not slowed down by other tests in this process.
//   node test/foreign/embedded-process.ts KUBECONFIG
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RunningCluster } from '../cluster/own.ts';

/** Starts one. Resolves when it accepts requests. */
export async function startEmbeddedProcess(): Promise<RunningCluster> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-foreign-'));
  const kubeconfigPath = path.join(dir, 'kubeconfig');
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), kubeconfigPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const isReady = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(() => true),
    ended.then(() => false),
  ]);
  if (!isReady) throw new Error('the embedded cluster did not start');
  return {
    kubeconfigPath,
    async stop() {
      child.kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

if (import.meta.main) {
  const { startEmbedded } = await import('../../src/embedded/index.ts');
  const cluster = await startEmbedded({ simulation: false });
  writeFileSync(process.argv[2]!, cluster.kubeconfig(), { mode: 0o600 });
  console.log('ready');
  // It ends with the process that started it.
  process.stdin.resume().once('close', () => process.exit());
}
