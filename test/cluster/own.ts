// Clusters for one suite or one command alone.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbedded } from '../../src/embedded/index.ts';
import { startRealNode } from '../node/node.ts';
import { startRealCluster } from './real.ts';

export interface RunningCluster {
  readonly kubeconfigPath: string;
  stop(): Promise<void>;
}

/** Starts a cluster of each kind; `images` are those of the pods that will run on a node. */
export const ownClusters = {
  embedded: async (): Promise<RunningCluster> => {
    const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-embedded-'));
    const kubeconfigPath = path.join(dir, 'kubeconfig');
    const server = await startEmbedded();
    writeFileSync(kubeconfigPath, server.kubeconfig(), { mode: 0o600 });
    return {
      kubeconfigPath,
      async stop() {
        await server.stop();
        rmSync(dir, { recursive: true, force: true });
      },
    };
  },

  real: (): Promise<RunningCluster> => startRealCluster({ audit: true }),

  node: (images: readonly string[] = []): Promise<RunningCluster> => startRealNode({ aliases: images }),
};
