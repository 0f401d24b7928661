// One real cluster for each worker of Vitest, which runs its test files one after the other: controllers of two files
// would act on each other's objects. It ends with the test process (see the guard in processes.ts). Tests that stop or
// freeze the API server start their own.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startRealCluster } from './real.ts';

/** Starts the shared cluster, or finds it: a thread of Vitest may end, and the next one takes over its pool ID. */
export async function sharedRealCluster(): Promise<{ readonly kubeconfigPath: string }> {
  const poolId = process.env['VITEST_POOL_ID'] ?? '0';
  const dir = path.join(tmpdir(), `offshoot-real-shared-${process.pid}-${poolId}`);
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
    // If the start failed, the folder is gone, and the next worker tries again.
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
