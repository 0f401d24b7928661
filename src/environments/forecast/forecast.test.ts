// A plan is exact: for any world of environments and any change, `env plan` says exactly what the controllers then do,
// in the order in which they do it. Runs on an API in memory, where clones run as soon as they are written.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { KUBERNETES, MemoryCluster } from '../../../test/environments/memory-cluster.ts';
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
import { inOrder, misordered } from '../../../test/environments/write-order.ts';
import { differencesOf, intentsOf, lineOf, surprises, tablesOf } from '../../../test/support/planned-changes.ts';
import type { State } from '../../../test/support/planned-changes.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { changesOf, reportedChange } from '../../controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { defaultSettings, environments, environmentTables } from '../index.ts';
import { Deployment, Service } from '../objects.ts';
import { planEnvironments, withoutDeploymentStatus } from './plan-environments.ts';
import { withRouteFields } from './route-fields.ts';

const KINDS = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService] as const;

/** An object that a user writes, or deletes if it exists. */
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

async function applyEdit(cluster: MemoryCluster, [object, isDeleted]: Edit): Promise<void> {
  const kind = KINDS.find((each) => each.kind === object.kind)!;
  const found = stateOf(cluster).get(kind)!.get(keyOf(object.metadata));
  if (!isDeleted) await cluster.put(object);
  else if (found !== undefined) await cluster.delete(found);
}

/** Times differ between the plan and what happens. */
const withoutTimes = (line: string): string => line.replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"');

/** The planned changes of all environments in this state, given the intents, in order. */
function planOf(cluster: MemoryCluster, state: State, intents: readonly Intent[] = []): readonly ReportedChange[] {
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
  return changes;
}

const linesOf = (changes: readonly ReportedChange[]): string[] => changes.map(lineOf).map(withoutTimes);

/** The differences between two states as a plan reports them. The status of Deployments is not ours. */
function reported(differences: readonly Write[]): readonly ReportedChange[] {
  return changesOf(differences.map(withoutDeploymentStatus)).map(withRouteFields).map(reportedChange);
}

async function expectExact(cluster: MemoryCluster, changes: readonly Edit[]): Promise<void> {
  const start = stateOf(cluster);
  const from = cluster.log.length;
  for (const each of changes) await applyEdit(cluster, each);
  const planned = planOf(cluster, start, intentsOf(start, stateOf(cluster)));
  await settle(cluster);
  await cluster.removeOrphans();
  await settle(cluster);
  const end = stateOf(cluster);
  const log = cluster.log.slice(from).filter(({ by }) => by !== KUBERNETES);
  const happened = inOrder(differencesOf(start, end), log);
  expect(surprises(linesOf(planned), linesOf(reported(happened)))).toEqual({ unplanned: [], missing: [] });
  expect(misordered(planned, happened), 'in the order of the writes').toEqual([]);
  expect(planOf(cluster, end), 'after that').toEqual([]);
}

async function expectExactInAny(prepare: (cluster: MemoryCluster) => Promise<void> | void): Promise<void> {
  const play = async (objects: readonly KubeObject[], changes: readonly Edit[]): Promise<void> => {
    const cluster = await MemoryCluster.of(objects);
    await prepare(cluster);
    await expectExact(cluster, changes);
  };
  await fc.assert(fc.asyncProperty(world, edits, play), { numRuns: 60 });
}

async function settle(cluster: MemoryCluster): Promise<void> {
  expect(await cluster.settle()).toEqual([]);
}

describe('a plan is exact', () => {
  test('for any settled world and any change', { timeout: 120_000 }, async () => {
    await expect(expectExactInAny(settle)).resolves.toBeUndefined();
  });

  test('for any world that no controller has reconciled yet', { timeout: 120_000 }, async () => {
    await expect(expectExactInAny(() => {})).resolves.toBeUndefined();
  });

  test('if another program made clones and rules', { timeout: 120_000 }, async () => {
    const play = async (objects: readonly KubeObject[], made: readonly KubeObject[]): Promise<void> =>
      expectExact(await MemoryCluster.of([...objects, ...made]), []);
    const some = fc.uniqueArray(originals, { minLength: 1, selector: ({ kind, metadata }) => kind + metadata.name });
    const isExact = fc.assert(fc.asyncProperty(world, some, play), { numRuns: 60 });
    await expect(isExact).resolves.toBeUndefined();
  });

  test('for environments that were removed without their finalizers', { timeout: 120_000 }, async () => {
    const isExact = expectExactInAny(async (cluster) => {
      await settle(cluster);
      for (const env of cluster.list(DynamicEnv).slice(1)) await cluster.remove(env);
    });
    await expect(isExact).resolves.toBeUndefined();
  });

  test('if the server refuses some of the routes', { timeout: 120_000 }, async () => {
    const isExact = expectExactInAny((cluster) => {
      cluster.refuse = refusalOf;
    });
    await expect(isExact).resolves.toBeUndefined();
  });
});
