// A cluster with the controllers of one part of the product running in this process, ready to play scenarios on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { kubectl } from './hands.ts';
import type { Hands } from './hands.ts';
import type { RunOptions } from './runner.ts';

export interface Session {
  /**
   * Plays a scenario in a namespace, then takes away what is still there. Rejects when a move fails, resolves with what
   * was left behind.
   */
  run(scenario: string, namespace: string, options?: Pick<RunOptions, 'onMove'>): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** kubectl with a cache of its own, which `close` removes. */
export function openKubectl(kubeconfigPath: string): { readonly hands: Hands; readonly close: () => void } {
  const cacheDir = mkdtempSync(path.join(tmpdir(), 'offshoot-kubectl-'));
  return {
    hands: kubectl(kubeconfigPath, cacheDir),
    close: () => rmSync(cacheDir, { recursive: true, force: true }),
  };
}
