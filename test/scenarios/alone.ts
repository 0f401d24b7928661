// Clusters for one run alone: other controllers would finish the work of those that a test kills.
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

/** Runs `use` on a new embedded cluster. */
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

/** The same on one of a few real clusters, which only the calling suite uses. */
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

/** After how many writes a controller crashes. More is faster, since a start is slow; `npm run soak` uses 1. */
const WRITES_UNTIL_CRASH = Number(process.env['OFFSHOOT_WRITES_UNTIL_CRASH'] ?? 5);

/** Numbers of writes before each crash. The first differs between scenarios, so that crashes hit every write. */
export function earlyCrashes(index: number): readonly number[] {
  return [(index % WRITES_UNTIL_CRASH) + 1, ...Array.from({ length: 1_000 }, () => WRITES_UNTIL_CRASH)];
}

/** Caches the undisturbed run of each scenario. */
export function references(run: (scenario: string) => Promise<Run>): (scenario: string) => Promise<Run> {
  const made = new Map<string, Promise<Run>>();
  return (scenario) => {
    const known = made.get(scenario) ?? run(scenario);
    made.set(scenario, known);
    return known;
  };
}

/** Runs with a crash after one write, after two and so on, some in parallel. Returns how many runs crashed. */
export async function sweep(
  survive: (writesUntilCrash: readonly number[]) => Promise<Run>,
  atOnce: number,
): Promise<number> {
  let crashes = 0;
  for (let next = 1; crashes === next - 1; next += atOnce) {
    const runs = await Promise.all(Array.from({ length: atOnce }, (_none, i) => survive([next + i])));
    // A controller that finishes its work with fewer writes does not crash.
    crashes += runs.filter(({ starts }) => starts > 1).length;
  }
  return crashes;
}
