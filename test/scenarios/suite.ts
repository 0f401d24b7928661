// The tests that every part runs on its folder of scenarios: each scenario on a cluster, and the same scenarios with
// controllers that crash.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../cluster/index.ts';
import { references, earlyCrashes, sweep } from './alone.ts';
import type { Session } from './session.ts';
import { TEST_LIMIT_MS } from './sweep.ts';
import type { Run } from './sweep.ts';

/** Starts a session before the tests of this suite and stops it after them. */
export function useSession<S extends Session>(start: () => Promise<S>): () => S {
  let session: S | undefined;
  beforeAll(async () => {
    session = await start();
  });
  afterAll(async () => {
    await session?.stop();
  });
  return () => session!;
}

/** Runs each scenario in its own namespace: every move succeeds, and nothing is left behind. */
export function testScenarios(
  cluster: Cluster,
  { names, prefix, session }: { names: readonly string[]; prefix: string; session: () => Session },
): void {
  describe.concurrent('scenario', () => {
    test.each(names)(
      '%s',
      async (name) => {
        const namespace = await cluster.namespace(prefix);
        const left = await session()
          .run(name, namespace)
          .catch((error: unknown) => [(error as Error).message]);
        expect(left).toEqual([]);
      },
      240_000,
    );
  });
}

interface CrashTests {
  /** Runs a scenario on its own embedded cluster. */
  readonly run: (scenario: string, writesUntilCrash?: readonly number[], reference?: Run) => Promise<Run>;
  readonly names: readonly string[];
  /** Scenarios that run once for every write, with a crash after it. */
  readonly swept: readonly string[];
  /** A sweep that finds fewer writes than this has missed something. */
  readonly leastCrashes: number;
  /** How many runs are in parallel. */
  readonly atOnce: number;
}

/**
 * Runs each scenario with controllers that crash after every few writes, and some of them once for every single write.
 * Returns a function for the undisturbed run of a scenario.
 */
export function testCrashes({
  run,
  names,
  swept,
  leastCrashes,
  atOnce,
}: CrashTests): (scenario: string) => Promise<Run> {
  const undisturbed = references((scenario) => run(scenario));

  describe.concurrent('the controllers crash after every few writes (embedded)', () => {
    test.each(names)(
      '%s',
      async (scenario) => {
        const survived = await run(scenario, earlyCrashes(names.indexOf(scenario)), await undisturbed(scenario));
        expect(survived.starts).toBeGreaterThan(1);
      },
      TEST_LIMIT_MS,
    );
  });

  describe.concurrent('the controllers crash after the n-th write (embedded)', () => {
    test.each(swept)(
      '%s',
      async (scenario) => {
        const reference = await undisturbed(scenario);
        const crashes = await sweep((writesUntilCrash) => run(scenario, writesUntilCrash, reference), atOnce);
        expect(crashes).toBeGreaterThan(leastCrashes);
      },
      TEST_LIMIT_MS,
    );
  });

  return undisturbed;
}
