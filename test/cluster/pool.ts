// A pool of clusters of one kind, for concurrent tests that each need a cluster for themselves.
import { afterAll } from 'vitest';
import { describeOn, handle, ownDrivers, start } from './index.ts';
import type { Cluster, Driver } from './index.ts';

/** Clusters of a kind: tests mostly wait, and an idle real cluster costs little. */
const SIZE = 3;

export class ClusterPool {
  readonly #driver: Driver;
  readonly #clusters: Promise<Cluster>[] = [];
  readonly #free: Cluster[] = [];
  readonly #waiting: ((cluster: Cluster) => void)[] = [];

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** Runs `act` on a cluster that nobody else uses meanwhile; waits until one is free. */
  async use<T>(act: (cluster: Cluster) => Promise<T>): Promise<T> {
    const cluster = await this.#take();
    try {
      return await act(cluster);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(cluster);
      else next(cluster);
    }
  }

  async kubeconfigPaths(): Promise<readonly string[]> {
    return (await Promise.all(this.#clusters)).map(({ kubeconfigPath }) => kubeconfigPath);
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#clusters.map(async (cluster) => (await cluster).stop()));
  }

  #take(): Promise<Cluster> | Cluster {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#clusters.length === SIZE) return new Promise((resolve) => this.#waiting.push(resolve));
    const started = start(this.#driver).then((running) => handle(this.#driver, () => running));
    this.#clusters.push(started);
    return started;
  }
}

/** Runs a suite on every kind of cluster, with a pool of clusters that no other suite uses. */
export function describeClusterPools(name: string, define: (pool: ClusterPool) => void): void {
  for (const driver of ownDrivers) {
    describeOn(driver, name, () => {
      const pool = new ClusterPool(driver);
      afterAll(() => pool.stop());
      define(pool);
    });
  }
}
