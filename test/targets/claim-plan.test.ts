// Plans of claims are exact, on both clusters: for some fixed worlds, the controllers make every planned change, and no
// other.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
import { DryRuns } from '../../src/cli/objects/dry-runs.ts';
import { withTables } from '../../src/cli/objects/tables.ts';
import { changesOf, createLogger, forecast, Manager, reportedChange } from '../../src/controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../src/controller/index.ts';
import type { AnyKind, Client, KubeObject } from '../../src/kube/index.ts';
import { planClaims, targets, targetTables } from '../../src/targets/index.ts';
import type { ClaimPlan } from '../../src/targets/index.ts';
import { Namespace, Secret } from '../../src/targets/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters } from '../scenarios/alone.ts';
import type { Alone } from '../scenarios/alone.ts';
import { surprises } from '../support/planned-changes-on-clusters.ts';
import { until } from '../support/until.ts';
import { installKinds } from './all.ts';

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
  readonly made?: readonly Thing[];
  readonly deleted?: readonly string[];
  /** The phases of the claims in the end. */
  readonly ends: Readonly<Record<string, string>>;
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
};

const controllersOf = (url: string) =>
  targets({ hostNamespace: HOST, cluster: { name: 'local', roles: [], server: url } });

type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** The current state of the cluster. */
interface Look {
  readonly state: State;
  /** How many writes the controllers would make. */
  readonly writes: number;
  plan(intents: readonly Intent[]): Promise<ClaimPlan>;
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
      plan: (intents) => dryRuns.repeat(({ refuse }) => planClaims({ controllers, tables, now, intents, refuse })),
    });
  });
}

/** Runs the controllers until they settle. */
async function settle(cluster: Alone): Promise<void> {
  const manager = new Manager({
    client: cluster.client,
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

async function expectExactPlan(cluster: Alone, { given = [], made = [], deleted = [], ends }: World): Promise<void> {
  const { client } = cluster;
  const namespace = `ns-${randomBytes(4).toString('hex')}`;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const inside = ({ kind, object }: Thing): Thing => ({
    kind,
    object: { ...object, metadata: { ...object.metadata, namespace } },
  });
  for (const { kind, object } of given.map(inside)) await client.create(kind, object);
  await settle(cluster);
  const intents: Intent[] = [
    ...made.map(inside).map(({ kind, object }) => ({ kind, put: object })),
    ...deleted.map((name) => ({ kind: DeploymentTargetClaim, delete: { name, namespace } })),
  ];
  const { before, plan } = await looking(cluster, async (look) => ({
    before: look.state,
    plan: await look.plan(intents),
  }));
  expect(Object.fromEntries(plan.claims.map(({ claim: key, phase }) => [key.split('/')[1], phase]))).toEqual(ends);

  for (const { kind, object } of made.map(inside)) await client.create(kind, object);
  for (const name of deleted) await client.delete(DeploymentTargetClaim, { name, namespace });
  await settle(cluster);
  const compared = async () =>
    surprises(plan.changes, differencesOf(before, await looking(cluster, ({ state }) => state)));
  // The garbage collector is slow.
  await until(async () => (await compared()).missing.length === 0, 20_000).catch(() => {});
  expect(await compared()).toEqual({ unplanned: [], missing: [] });
}

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOST } });
  for (const [name, spec] of Object.entries(CLASSES)) {
    const ofClass = { apiVersion: APPSTUDIO, kind: 'DeploymentTargetClass', metadata: { name }, spec };
    await client.create(DeploymentTargetClass, ofClass);
  }
}

describe.concurrent('a plan is exact (embedded)', () => {
  test.each(Object.entries(WORLDS))(
    '%s',
    async (_name, world) => {
      await expect(alone(prepare, (cluster) => expectExactPlan(cluster, world))).resolves.toBeUndefined();
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
  });
});
