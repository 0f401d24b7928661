// One real cluster for a whole test run: whichever worker asks first starts it, the others wait for it, and it ends
// with the test process (processes.ts guards it). Tests that stop or freeze the API server start one of their own.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRealCluster } from './real.ts';

/** The kubeconfig of the shared cluster, which is ready. Vitest's worker threads have one process id in common. */
export async function sharedRealCluster(): Promise<{ readonly kubeconfigPath: string }> {
  const dir = path.join(tmpdir(), `offshoot-real-shared-${process.pid}`);
  const readyFile = path.join(dir, 'ready');
  for (;;) {
    if (claim(dir)) {
      try {
        const { kubeconfigPath } = await startRealCluster({ dir });
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
