// The planner in a cluster where rollouts take time and the process crashes at any write.
import { array, assert, integer, option, property } from 'fast-check';
import { expect, test } from 'vitest';
import type { Workload } from '../workloads/workloads.ts';
import { withRestart, lastRestart } from './restart-annotations.ts';
import type { RestartPlan } from './plan.ts';
import { HASH, HEALTHY, NOW, plan, workload } from './testing/workloads.ts';

/** A cluster in which rollouts take time, some of them forever. */
class Cluster {
  readonly workloads: Workload[];
  readonly restarts = new Map<string, number>();
  readonly #left = new Map<string, number>();
  readonly #stuck: ReadonlySet<string>;

  constructor(count: number, stuck: readonly string[]) {
    this.workloads = Array.from({ length: count }, (_none, index) => workload(`w-${String(index).padStart(4, '0')}`));
    this.#stuck = new Set(stuck);
  }

  plan(batchSize: number): RestartPlan {
    const done = this.workloads.filter((each) => lastRestart(each)?.for === HASH).map(({ metadata }) => metadata.name);
    return plan(this.workloads, { batchSize }, done);
  }

  /** Executes a plan up to a crash. */
  apply({ restart }: RestartPlan, writes: number): void {
    for (const {
      workload: { metadata },
    } of restart.slice(0, writes)) {
      const index = this.workloads.findIndex((each) => each.metadata.name === metadata.name);
      this.restarts.set(metadata.name, (this.restarts.get(metadata.name) ?? 0) + 1);
      this.#left.set(metadata.name, this.#stuck.has(metadata.name) ? Number.POSITIVE_INFINITY : 1 + (index % 3));
      const status = { ...HEALTHY, availableReplicas: 1 };
      this.workloads[index] = { ...withRestart(this.workloads[index]!, HASH, NOW), status };
    }
  }

  tick(): void {
    for (const [name, left] of this.#left) {
      if (left > 1) this.#left.set(name, left - 1);
      else {
        this.#left.delete(name);
        const index = this.workloads.findIndex(({ metadata }) => metadata.name === name);
        this.workloads[index] = { ...this.workloads[index]!, status: HEALTHY };
      }
    }
  }

  get unavailable(): number {
    return this.workloads.filter(({ status }) => status?.availableReplicas !== 2).length;
  }
}

test('planRestarts restarts 500 workloads once each, at most one batch at a time', () => {
  const cluster = new Cluster(500, []);
  for (let round = 0; round < 500; round++) {
    cluster.apply(cluster.plan(20), Number.POSITIVE_INFINITY);
    expect(cluster.unavailable).toBeLessThanOrEqual(20);
    cluster.tick();
  }
  expect([...cluster.restarts.values()].every((count) => count === 1)).toBe(true);
  expect(cluster.restarts.size).toBe(500);
  expect(cluster.plan(20)).toMatchObject({
    restart: [],
    restarting: [],
    waiting: [],
    progress: { total: 500, done: 500 },
  });
});

test('planRestarts with crashes at any write restarts nothing twice, and finishes or says what it waits for', () => {
  assert(
    property(
      integer({ min: 1, max: 30 }),
      integer({ min: 1, max: 7 }),
      array(integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 20 }),
      option(integer({ min: 0, max: 29 })),
      (count, batchSize, crashes, stuck) => {
        const stuckName = stuck === null ? [] : [`w-${String(stuck).padStart(4, '0')}`];
        const cluster = new Cluster(count, stuckName);
        for (let round = 0; round < count * 4 + crashes.length; round++) {
          cluster.apply(cluster.plan(batchSize), crashes[round] ?? Number.POSITIVE_INFINITY);
          expect(cluster.unavailable).toBeLessThanOrEqual(batchSize);
          cluster.tick();
        }
        expect([...cluster.restarts.values()].every((times) => times === 1)).toBe(true);
        const { waiting, restarting, progress } = cluster.plan(batchSize);
        const expected = progress.done < progress.total ? stuckName : [];
        expect(restarting.map(({ workload: { name } }) => name)).toEqual(expected);
        const blamed = waiting.map(({ waiting: text }) => /Deployment shop\/(\S+)/.exec(text)?.[1]);
        expect(blamed.every((name) => name === expected[0])).toBe(true);
      },
    ),
  );
});
