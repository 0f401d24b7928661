// Clusters that are used for nothing else: other controllers would finish the work of those that a test ends.
import { afterAll } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import { loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { ownDrivers } from '../cluster/index.ts';
import { ClusterPool } from '../cluster/pool.ts';
import type { Run } from './sweep.ts';
import { connectAdmin } from '../support/connect-admin.ts';

export interface Alone {
  readonly client: Client;
  readonly url: string;
}

type Prepare = (client: Client) => Promise<void>;

/** Runs something on an embedded cluster of its own. */
export async function alone<T>(prepare: Prepare, use: (cluster: Alone) => Promise<T>): Promise<T> {
  const server = await startEmbedded();
  const client = connectAdmin(server);
  try {
    await prepare(client);
    return await use({ client, url: server.url });
  } finally {
    client.close();
    await server.stop();
  }
}

/** The same on one of a few real clusters, which are for the tests of the suite that calls this. */
export function aloneOnRealClusters(prepare: Prepare): <T>(use: (cluster: Alone) => Promise<T>) => Promise<T> {
  const pool = new ClusterPool(ownDrivers.find(({ name }) => name === 'real')!);
  const prepared = new Set<string>();
  afterAll(() => pool.stop());
  return (use) =>
    pool.use(async (cluster) => {
      const { kubeconfigPath } = cluster;
      const client = cluster.client();
      if (!prepared.has(kubeconfigPath)) await prepare(client);
      prepared.add(kubeconfigPath);
      return use({ client, url: loadConfig({ path: kubeconfigPath }).server });
    });
}

/** How many writes a controller lives for: its start takes longer than they do. `npm run soak` tries 1. */
const LIFETIME = Number(process.env['OFFSHOOT_LIFETIME'] ?? 3);

/** Lives that end soon. Those of one scenario after the other end a write later: none is left out. */
export function shortLives(index: number): readonly number[] {
  return [(index % LIFETIME) + 1, ...Array.from({ length: 1_000 }, () => LIFETIME)];
}

/** The undisturbed run of each scenario, made once. */
export function references(run: (scenario: string) => Promise<Run>): (scenario: string) => Promise<Run> {
  const made = new Map<string, Promise<Run>>();
  return (scenario) => {
    const known = made.get(scenario) ?? run(scenario);
    made.set(scenario, known);
    return known;
  };
}

/** Lets a controller end after one write, after two and so on, some at once. Returns how many of them ended early. */
export async function sweep(survive: (lives: readonly number[]) => Promise<Run>, atOnce: number): Promise<number> {
  let deaths = 0;
  for (let next = 1; deaths === next - 1; next += atOnce) {
    const runs = await Promise.all(Array.from({ length: atOnce }, (_none, i) => survive([next + i])));
    // A controller that may write more often than there is something to write lives to the end.
    deaths += runs.filter(({ lives }) => lives > 1).length;
  }
  return deaths;
}
