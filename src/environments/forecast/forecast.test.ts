// What is planned is what happens: for any world of environments, and any change of it, `env plan` says exactly what the
// controllers then do. On an API in memory, where clones run as soon as they are written.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import {
  deployment,
  environment,
  originals,
  refusalOf,
  rule,
  service,
  squatter,
  virtualService,
  world,
} from '../../../test/environments/random-worlds.ts';
import { differencesOf, intentsOf, lineOf, surprises, tablesOf } from '../../../test/support/foretold.ts';
import type { State } from '../../../test/support/foretold.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { changesOf, reportedChange } from '../../controller/index.ts';
import type { Intent } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { defaultSettings, environments, environmentTables } from '../index.ts';
import { Deployment, Service } from '../objects.ts';
import { planEnvironments, withoutDeploymentStatus } from './plan-environments.ts';
import { withRouteFields } from './route-fields.ts';

const KINDS = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService] as const;

/** Something that a person writes, or deletes if it is there. */
type Edit = readonly [object: KubeObject, isDeleted: boolean];

const edits = fc.uniqueArray(
  fc.tuple(fc.oneof(environment, environment, deployment, service, rule, virtualService, squatter), fc.boolean()),
  { maxLength: 3, selector: ([{ kind, metadata }]) => `${kind} ${keyOf(metadata)}` },
);

function stateOf(cluster: MemoryCluster): State {
  return new Map(
    KINDS.map((kind) => [kind, new Map(cluster.list<KubeObject>(kind).map((each) => [keyOf(each.metadata), each]))]),
  );
}

async function carryOut(cluster: MemoryCluster, [object, isDeleted]: Edit): Promise<void> {
  const kind = KINDS.find((each) => each.kind === object.kind)!;
  const found = stateOf(cluster).get(kind)!.get(keyOf(object.metadata));
  if (!isDeleted) await cluster.put(object);
  else if (found !== undefined) await cluster.delete(found);
}

/** Times are those at which it happens. */
const withoutTimes = (line: string): string => line.replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"');

/** What would change, in one line each, for all environments of a state in which somebody does something. */
function planOf(cluster: MemoryCluster, state: State, intents: readonly Intent[] = []): string[] {
  const { changes } = planEnvironments({
    controllers: environments(),
    settings: defaultSettings,
    tables: tablesOf(environmentTables, state),
    now: cluster.now,
    environments: [...state.get(DynamicEnv)!.values()].map(({ metadata }) => metadata),
    intents,
    orphansIn: ['a', 'a-e'],
    refuse: (step) => (step.do === 'edit' ? cluster.refuse(step.to) : undefined),
    managedFields: (kind, object) => cluster.managedFields(kind, object),
  });
  return changes.map(lineOf).map(withoutTimes).sort();
}

/** What differs between two states, in one line each. Of Deployments, the status is not ours. */
function happenedBetween(before: State, after: State): string[] {
  const writes = differencesOf(before, after).map(withoutDeploymentStatus);
  return changesOf(writes).map(withRouteFields).map(reportedChange).map(lineOf).map(withoutTimes).sort();
}

async function expectForetold(cluster: MemoryCluster, changes: readonly Edit[]): Promise<void> {
  const start = stateOf(cluster);
  for (const each of changes) await carryOut(cluster, each);
  const foretold = planOf(cluster, start, intentsOf(start, stateOf(cluster)));
  await settle(cluster);
  await cluster.removeOrphans();
  await settle(cluster);
  const end = stateOf(cluster);
  expect(surprises(foretold, happenedBetween(start, end))).toEqual({ unforeseen: [], missing: [] });
  expect(planOf(cluster, end), 'after that').toEqual([]);
}

async function expectForetoldInAny(prepare: (cluster: MemoryCluster) => Promise<void> | void): Promise<void> {
  const play = async (objects: readonly KubeObject[], changes: readonly Edit[]): Promise<void> => {
    const cluster = await MemoryCluster.of(objects);
    await prepare(cluster);
    await expectForetold(cluster, changes);
  };
  await fc.assert(fc.asyncProperty(world, edits, play), { numRuns: 60 });
}

async function settle(cluster: MemoryCluster): Promise<void> {
  expect(await cluster.settle()).toEqual([]);
}

describe('what is planned is what happens', () => {
  test('in any world that has settled, after any change', { timeout: 120_000 }, async () => {
    await expect(expectForetoldInAny(settle)).resolves.toBeUndefined();
  });

  test('in any world that no controller has looked at yet', { timeout: 120_000 }, async () => {
    await expect(expectForetoldInAny(() => {})).resolves.toBeUndefined();
  });

  test('where another program has made clones and rules', { timeout: 120_000 }, async () => {
    const play = async (objects: readonly KubeObject[], made: readonly KubeObject[]): Promise<void> =>
      expectForetold(await MemoryCluster.of([...objects, ...made]), []);
    const some = fc.uniqueArray(originals, { minLength: 1, selector: ({ kind, metadata }) => kind + metadata.name });
    const isForetold = fc.assert(fc.asyncProperty(world, some, play), { numRuns: 60 });
    await expect(isForetold).resolves.toBeUndefined();
  });

  test('of environments that are gone, and not in the ordinary way', { timeout: 120_000 }, async () => {
    const isForetold = expectForetoldInAny(async (cluster) => {
      await settle(cluster);
      for (const env of cluster.list(DynamicEnv).slice(1)) await cluster.remove(env);
    });
    await expect(isForetold).resolves.toBeUndefined();
  });

  test('where the server refuses some of the routes', { timeout: 120_000 }, async () => {
    const isForetold = expectForetoldInAny((cluster) => {
      cluster.refuse = refusalOf;
    });
    await expect(isForetold).resolves.toBeUndefined();
  });
});
