// A suite on a part of the control plane that runs with only its permissions.
import { afterAll, beforeAll, expect } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { until } from './until.ts';
import { installPermissions, startWithPermissions } from './with-permissions.ts';
import type { PartWithControllers, PermissionsOptions, WithPermissions } from './with-permissions.ts';

export interface PermissionsSuite {
  /** Log lines of requests that were forbidden. */
  readonly refused: readonly string[];
  /** Waits for a condition; fails at once when a request is forbidden. */
  until(condition: () => Promise<boolean>, deadlineMs: number, found?: () => unknown): Promise<void>;
}

/** Starts a part with only its permissions before the tests of this suite, and stops it after them. */
export function usePermissions(
  cluster: Cluster,
  part: PartWithControllers,
  { prepare, ...options }: PermissionsOptions & { readonly prepare: (admin: Client) => Promise<unknown> },
): PermissionsSuite {
  let started: WithPermissions | undefined;
  beforeAll(async () => {
    await installPermissions(cluster, part);
    await prepare(cluster.client());
    started = await startWithPermissions(cluster, part, options);
  });
  afterAll(() => started?.plane.stop());
  return {
    get refused() {
      return started!.refused;
    },
    async until(condition, deadlineMs, found) {
      const { refused } = started!;
      await until(async () => refused.length > 0 || (await condition()), deadlineMs, found);
      expect(refused).toEqual([]);
    },
  };
}
