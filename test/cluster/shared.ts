// One real cluster for each of the places where test files run one after the other: controllers of two files would do each
// other's work. It ends with the test process (processes.ts guards it). Tests that stop or freeze the API server start one
// of their own.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRealCluster } from './real.ts';

/** The kubeconfig of the shared cluster, which is ready. A thread of Vitest may end, and the next one takes its place. */
export async function sharedRealCluster(): Promise<{ readonly kubeconfigPath: string }> {
  const place = process.env['VITEST_POOL_ID'] ?? '0';
  const dir = path.join(tmpdir(), `offshoot-real-shared-${process.pid}-${place}`);
  const readyFile = path.join(dir, 'ready');
  for (;;) {
    if (claim(dir)) {
      try {
        const { kubeconfigPath } = await startRealCluster({ dir, audit: true });
        writeFileSync(`${readyFile}.new`, kubeconfigPath);
        renameSync(`${readyFile}.new`, readyFile);
        return { kubeconfigPath };
      } catch (error) {
        rmSync(dir, { recursive: true, force: true });
        throw error;
      }
    }
    // After a start that failed the folder is gone, and the next worker tries for itself.
    while (existsSync(dir) && !existsSync(readyFile)) await delay(50);
    if (existsSync(readyFile)) return { kubeconfigPath: readFileSync(readyFile, 'utf8') };
  }
}

function claim(dir: string): boolean {
  try {
    mkdirSync(dir);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
