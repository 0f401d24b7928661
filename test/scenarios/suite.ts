// The tests that every part of the product runs on its folder of scenarios: each scenario on a cluster, and the same
// scenarios with controllers that crash.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../cluster/index.ts';
import { references, shortLives, sweep } from './alone.ts';
import type { Session } from './session.ts';
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

/** Each scenario in a namespace of its own: every move succeeds, and nothing is left behind. */
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
      120_000,
    );
  });
}

interface CrashTests {
  /** Runs a scenario on an embedded cluster of its own. */
  readonly run: (scenario: string, lives?: readonly number[], reference?: Run) => Promise<Run>;
  readonly names: readonly string[];
  /** Those that are run once for every write after which the controllers can crash. */
  readonly swept: readonly string[];
  /** A sweep that finds fewer writes than this has missed something. */
  readonly leastCrashes: number;
  /** How many runs share the machine. */
  readonly atOnce: number;
}

/**
 * Each scenario with controllers that crash after every few writes, and some of them once for every single write.
 * Returns the undisturbed run of each scenario.
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
        const survived = await run(scenario, shortLives(names.indexOf(scenario)), await undisturbed(scenario));
        expect(survived.lives).toBeGreaterThan(1);
      },
      240_000,
    );
  });

  describe.concurrent('the controllers crash after the n-th write (embedded)', () => {
    test.each(swept)(
      '%s',
      async (scenario) => {
        const reference = await undisturbed(scenario);
        const crashes = await sweep((lives) => run(scenario, lives, reference), atOnce);
        expect(crashes).toBeGreaterThan(leastCrashes);
      },
      240_000,
    );
  });

  return undisturbed;
}
