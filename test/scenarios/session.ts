// A cluster with the controllers of one part running in this process, to run scenarios on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kubectl } from './cluster-actions.ts';
import type { ClusterActions } from './cluster-actions.ts';
import type { RunOptions } from './runner.ts';

export interface Session {
  /**
   * Runs a scenario in a namespace, then deletes its objects. Rejects when a move fails, resolves with what was left
   * behind.
   */
  run(scenario: string, namespace: string, options?: Pick<RunOptions, 'onMove'>): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** kubectl with its own cache folder, which `close` removes. */
export function openKubectl(kubeconfigPath: string): { readonly actions: ClusterActions; readonly close: () => void } {
  const cacheDir = mkdtempSync(path.join(tmpdir(), 'offshoot-kubectl-'));
  return {
    actions: kubectl(kubeconfigPath, cacheDir),
    close: () => rmSync(cacheDir, { recursive: true, force: true }),
  };
}
