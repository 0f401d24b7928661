// Plans of claims are exact, on both clusters: for some fixed worlds and a few random ones, the controllers make every
// planned change, in the planned order, and no other.
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
import { DryRuns } from '../../src/cli/objects/dry-runs.ts';
import { withTables } from '../../src/cli/objects/tables.ts';
import { changesOf, createLogger, forecast, Manager, reportedChange } from '../../src/controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../src/controller/index.ts';
import type { AnyKind, Client, KubeObject, Ref } from '../../src/kube/index.ts';
import { planClaims, targets, targetTables } from '../../src/targets/index.ts';
import type { ClaimPlan } from '../../src/targets/index.ts';
import { Namespace, Secret } from '../../src/targets/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters } from '../scenarios/alone.ts';
import type { Alone } from '../scenarios/alone.ts';
import { isPlanned, surprises } from '../support/planned-changes-on-clusters.ts';
import { idOf, recordingClient } from '../support/recording-client.ts';
import type { LoggedWrite } from '../support/recording-client.ts';
import { until } from '../support/until.ts';
import { installKinds } from './all.ts';
import { describeWorld, randomClaimWorld } from './random-claim-worlds.ts';
import type { ClaimDraft, RandomClaimWorld } from './random-claim-worlds.ts';

const HOST = 'offshoot-system';
const APPSTUDIO = 'appstudio.redhat.com/v1alpha1';
const CLASSES = {
  local: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete', parameters: { quota: { cpu: '1000m' } } },
  warm: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Delete', parameters: { warm: 1 } },
  kept: { provisioner: 'offshoot.dev/namespace', reclaimPolicy: 'Retain' },
  sandbox: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete' },
} as const;

/** An object that exists, or that a user creates. */
type Thing = { readonly kind: AnyKind; readonly object: KubeObject };

const claim = (name: string, deploymentTargetClassName: string, more: object = {}): Thing => ({
  kind: DeploymentTargetClaim,
  object: thing(APPSTUDIO, 'DeploymentTargetClaim', name, { spec: { deploymentTargetClassName, ...more } }),
});
const environment = (name: string, claimName: string): Thing => ({
  kind: Environment,
  object: thing(APPSTUDIO, 'Environment', name, {
    spec: {
      displayName: name,
      deploymentStrategy: 'Manual',
      configuration: { target: { deploymentTargetClaim: { claimName } } },
    },
  }),
});
const target = (name: string): Thing => ({
  kind: DeploymentTarget,
  object: thing(APPSTUDIO, 'DeploymentTarget', name, {
    spec: {
      deploymentTargetClassName: '',
      kubernetesCredentials: {
        defaultNamespace: 'x',
        apiURL: 'https://x',
        clusterCredentialsSecret: 'key',
        allowInsecureSkipTLSVerify: false,
      },
    },
  }),
});
const secret = (name: string): Thing => ({
  kind: Secret,
  object: thing('v1', 'Secret', name, { type: 'Opaque', data: { kubeconfig: 'a2V5' } }),
});

function thing(apiVersion: string, kind: string, name: string, fields: object): KubeObject {
  const object: KubeObject & object = { apiVersion, kind, metadata: { name }, ...fields };
  return object;
}

interface World {
  /** Objects that exist, and for which the controllers have settled. */
  readonly given?: readonly Thing[];
  /** Claims whose target a user deletes while the controllers do not run. */
  readonly losing?: readonly string[];
  readonly made?: readonly Thing[];
  readonly deleted?: readonly string[];
  /** The phases of the claims in the end. */
  readonly ends?: Readonly<Record<string, string>>;
}

const WORLDS: Readonly<Record<string, World>> = {
  'a claim of a namespace': { made: [claim('dev', 'local')], ends: { dev: 'Bound' } },
  'a claim of a space': { made: [claim('dev', 'sandbox')], ends: { dev: 'Bound' } },
  'a claim with an Environment': { made: [claim('dev', 'local'), environment('prod', 'dev')], ends: { dev: 'Bound' } },
  'a claim that takes from the pool, which is filled again': {
    given: [claim('first', 'warm')],
    made: [claim('second', 'warm')],
    ends: { second: 'Bound' },
  },
  'a claim of a target that was created by hand': {
    given: [secret('key'), target('ours')],
    made: [claim('dev', '', { targetName: 'ours' })],
    ends: { dev: 'Bound' },
  },
  'a claim of a class that does not exist': { made: [claim('dev', 'none')], ends: { dev: 'Pending' } },
  'a claim of a namespace that is deleted': {
    given: [claim('dev', 'local')],
    deleted: ['dev'],
    ends: { dev: 'Gone' },
  },
  'a claim of a space that is deleted': { given: [claim('dev', 'sandbox')], deleted: ['dev'], ends: { dev: 'Gone' } },
  'a claim that is deleted, of a class that retains its target': {
    given: [claim('dev', 'kept')],
    deleted: ['dev'],
    ends: { dev: 'Gone' },
  },
  'a claim of a namespace whose target somebody deletes': {
    given: [claim('dev', 'local')],
    losing: ['dev'],
    ends: { dev: 'Lost' },
  },
  'a claim with an Environment whose target somebody deletes': {
    given: [claim('dev', 'local'), environment('prod', 'dev')],
    losing: ['dev'],
    ends: { dev: 'Lost' },
  },
  'a claim of a space whose target somebody deletes': {
    given: [claim('dev', 'sandbox')],
    losing: ['dev'],
    ends: { dev: 'Lost' },
  },
};

const controllersOf = (url: string) =>
  targets({ hostNamespace: HOST, cluster: { name: 'local', roles: [], server: url } });

type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** The current state of the cluster. */
interface Look {
  readonly state: State;
  /** How many writes the controllers would make. */
  readonly writes: number;
  plan(intents: readonly Intent[], claims: readonly Ref[]): Promise<ClaimPlan>;
}

function looking<R>({ client, url }: Alone, use: (look: Look) => R | Promise<R>): Promise<R> {
  const controllers = controllersOf(url);
  const signal = AbortSignal.timeout(30_000);
  return withTables(client, targetTables, signal, async (tables) => {
    const now = Date.now();
    const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
    return use({
      state: new Map(
        targetTables.map((kind) => {
          const table = tables.of(kind);
          return [kind, new Map([...table.keys()].map((key) => [key, table.get(key)!]))];
        }),
      ),
      writes: forecast({ controllers, tables, now }).writes.length,
      plan: (intents, claims) =>
        dryRuns.repeat(({ refuse }) => planClaims({ controllers, tables, now, intents, claims, refuse })),
    });
  });
}

/** Runs the controllers until they settle, and adds what they write to the log. */
async function settle(cluster: Alone, log: LoggedWrite[] = []): Promise<void> {
  const manager = new Manager({
    client: recordingClient(cluster.client, log, 'controllers'),
    controllers: controllersOf(cluster.url),
    logger: createLogger({ level: 'silent' }),
  });
  await manager.start();
  const isDone = async (): Promise<boolean> =>
    manager.idle && looking(cluster, ({ state, writes }) => isQuiet(state) && writes === 0);
  try {
    await until(isDone, 60_000);
  } finally {
    await manager.stop();
  }
}

/** Whether the cluster has finished its deletions. */
function isQuiet(state: State): boolean {
  return [...state.values()].every((objects) =>
    [...objects.values()].every(({ metadata }) => metadata.deletionTimestamp === undefined),
  );
}

/** The differences, without what Kubernetes creates in every namespace. */
function differencesOf(before: State, after: State): readonly ReportedChange[] {
  const writes = [...after].flatMap(([kind, objects]) => {
    const others = before.get(kind)!;
    const keys = [...new Set([...objects.keys(), ...others.keys()])].sort();
    return keys.map((key): Write => ({
      kind,
      before: others.get(key),
      after: objects.get(key),
      by: '',
      for: { kind, object: (objects.get(key) ?? others.get(key))! },
    }));
  });
  return changesOf(writes)
    .map(reportedChange)
    .filter((change) => !(change.do === 'make' && change.kind === 'ServiceAccount' && change.name === 'default'));
}

/**
 * The objects that one controller creates or removes in one namespace, in another order than planned. Controllers do
 * not wait for each other without a reason, nor does one for what it does elsewhere.
 */
function misordered(
  planned: readonly ReportedChange[],
  happened: readonly ReportedChange[],
  log: readonly LoggedWrite[],
) {
  const placed = planned
    .filter(({ do: verb, by }) => verb !== 'change' && by.length === 1 && by[0] !== 'you' && by[0] !== 'cluster')
    .flatMap((change) => {
      const found = happened.filter((each) => isPlanned(change, each));
      if (found.length !== 1) return [];
      const isWritten = ({ object }: LoggedWrite): boolean => object === idOf(found[0]!, found[0]!);
      const at = change.do === 'remove' ? log.findLastIndex(isWritten) : log.findIndex(isWritten);
      return [{ at, name: `${change.do} ${idOf(found[0]!, found[0]!)}`, group: `${change.by[0]} ${change.namespace}` }];
    });
  return [...Map.groupBy(placed, ({ group }) => group).values()].flatMap((group) => {
    const order = group.toSorted((one, other) => one.at - other.at);
    const names = (each: typeof group) => each.map(({ name }) => name);
    return order.every((each, i) => each === group[i]) ? [] : [{ planned: names(group), happened: names(order) }];
  });
}

async function expectExactPlan(cluster: Alone, world: World): Promise<void> {
  const { given = [], losing = [], made = [], deleted = [], ends = {} } = world;
  const { client } = cluster;
  const namespace = `ns-${randomBytes(4).toString('hex')}`;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const inside = ({ kind, object }: Thing): Thing => ({
    kind,
    object: { ...object, metadata: { ...object.metadata, namespace } },
  });
  for (const { kind, object } of given.map(inside)) await client.create(kind, object);
  await settle(cluster);
  for (const name of losing) {
    const { targetName } = (await client.get(DeploymentTargetClaim, { name, namespace })).spec;
    await client.delete(DeploymentTarget, { name: targetName!, namespace });
  }
  const intents: Intent[] = [
    ...made.map(inside).map(({ kind, object }) => ({ kind, put: object })),
    ...deleted.map((name) => ({ kind: DeploymentTargetClaim, delete: { name, namespace } })),
  ];
  const { before, plan } = await looking(cluster, async (look) => ({
    before: look.state,
    plan: await look.plan(
      intents,
      losing.map((name) => ({ name, namespace })),
    ),
  }));
  const phases = plan.claims.map(({ claim: key, phase }) => [key.split('/')[1], phase]);
  expect(Object.fromEntries(phases)).toMatchObject(ends);

  for (const { kind, object } of made.map(inside)) await client.create(kind, object);
  for (const name of deleted) await client.delete(DeploymentTargetClaim, { name, namespace });
  const log: LoggedWrite[] = [];
  await settle(cluster, log);
  const differences = async () => differencesOf(before, await looking(cluster, ({ state }) => state));
  // The garbage collector is slow for kinds that are new.
  const isDone = async () => surprises(plan.changes, await differences()).missing.length === 0;
  await until(isDone, 90_000).catch(() => {});
  const happened = await differences();
  expect(surprises(plan.changes, happened)).toEqual({ unplanned: [], missing: [] });
  // The claims of a namespace do not wait for each other.
  const isOne = losing.length + made.length + deleted.length === 1;
  expect(isOne ? misordered(plan.changes, happened, log) : [], 'in the order of the writes').toEqual([]);
}

/** The world with its objects. A claim without a class is of the target that was created by hand. */
function worldOf({ given, losing, made, deleted }: RandomClaimWorld): World {
  const objectsOf = ({ name, className, hasEnvironment }: ClaimDraft): readonly Thing[] => [
    claim(name, className, className === '' ? { targetName: 'ours' } : {}),
    ...(hasEnvironment ? [environment(`at-${name}`, name)] : []),
  ];
  const byHand = [secret('key'), target('ours')];
  return { given: [...byHand, ...given.flatMap(objectsOf)], losing, made: made.flatMap(objectsOf), deleted };
}

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOST } });
  for (const [name, spec] of Object.entries(CLASSES)) {
    const ofClass = { apiVersion: APPSTUDIO, kind: 'DeploymentTargetClass', metadata: { name }, spec };
    await client.create(DeploymentTargetClass, ofClass);
  }
}

const RANDOM = fc.sample(randomClaimWorld, { numRuns: 6, seed: fc.readConfigureGlobal().seed! });
const RANDOM_WORLDS = RANDOM.map((world, i) => [`random world ${i + 1}`, world] as const);

describe.concurrent('a plan is exact (embedded)', () => {
  test.each(Object.entries(WORLDS))(
    '%s',
    async (_name, world) => {
      await expect(alone(prepare, (cluster) => expectExactPlan(cluster, world))).resolves.toBeUndefined();
    },
    60_000,
  );

  test.each(RANDOM_WORLDS)(
    '%s',
    async (_name, world) => {
      const played = alone(prepare, (cluster) => expectExactPlan(cluster, worldOf(world)));
      await expect(played, describeWorld(world)).resolves.toBeUndefined();
    },
    60_000,
  );
});

describeReal('a plan is exact', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  describe.concurrent('for', () => {
    test.each(Object.entries(WORLDS))(
      '%s',
      async (_name, world) => {
        await expect(onRealCluster((cluster) => expectExactPlan(cluster, world))).resolves.toBeUndefined();
      },
      240_000,
    );

    test.each(RANDOM_WORLDS)(
      '%s',
      async (_name, world) => {
        const played = onRealCluster((cluster) => expectExactPlan(cluster, worldOf(world)));
        await expect(played, describeWorld(world)).resolves.toBeUndefined();
      },
      240_000,
    );
  });
});
