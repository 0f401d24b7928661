// A cluster with the controllers of environments running in this process, ready to play scenarios on.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import type { Client } from '../../src/kube/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { kubectl } from './hands.ts';
import { installKinds } from './install.ts';
import { DynamicEnv, leftoversInTheEnd } from './leftovers.ts';
import { play } from './runner.ts';
import type { RunOptions } from './runner.ts';
import { readScenario } from './scenario.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

export interface Session {
  /**
   * Plays a scenario in a namespace, then deletes the environments that are still there. Rejects when a move fails,
   * resolves with what environments left behind.
   */
  run(scenario: string, namespace: string, options?: Pick<RunOptions, 'onMove'>): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** Installs the kinds and starts the controllers. */
export async function startSession(cluster: { kubeconfigPath: string; client: Client }): Promise<Session> {
  const { client, kubeconfigPath } = cluster;
  await installKinds(client);
  const cacheDir = mkdtempSync(path.join(tmpdir(), 'offshoot-kubectl-'));
  const hands = kubectl(kubeconfigPath, cacheDir);
  const manager = new Manager({
    client,
    controllers: [environments({ drainMs: 200 })],
    logger: createLogger({ level: 'error' }),
  });
  await manager.start();
  return {
    async run(scenario, namespace, options = {}) {
      const moves = readScenario(scenario, namespace);
      const others = moves
        .flatMap(({ objects }) => objects)
        .filter(({ kind }) => kind === 'Namespace')
        .map(({ metadata }) => metadata.name);
      try {
        await play(moves, { hands, ...options });
        return await deleteAll(client, [namespace, ...others]);
      } finally {
        await Promise.all(others.map((name) => client.delete(Namespace, { name }).catch(() => undefined)));
      }
    },
    async stop() {
      await manager.stop();
      rmSync(cacheDir, { recursive: true, force: true });
    },
  };
}

/** Deletes all environments of some namespaces; resolves with what is left of them in the end. */
async function deleteAll(client: Client, namespaces: readonly string[]): Promise<readonly string[]> {
  for (const namespace of namespaces) {
    const { items } = await client.list(DynamicEnv, { namespace });
    for (const { metadata } of items) await client.delete(DynamicEnv, metadata);
  }
  return leftoversInTheEnd(client, (name) => namespaces.includes(name));
}
