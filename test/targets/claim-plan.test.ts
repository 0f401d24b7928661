// What is planned for claims is what controllers then do, on both clusters: for some fixed worlds, every change that was
// foretold happens, and nothing else does.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
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
import { surprises } from '../support/foretold-on-clusters.ts';
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

/** Something that is there, or that somebody does. */
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
  /** Looked after by the controllers until they have nothing to do. */
  readonly given?: readonly Thing[];
  readonly made?: readonly Thing[];
  readonly deleted?: readonly string[];
  /** How the claims are in the end. */
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
  'a claim of a target that somebody brought': {
    given: [secret('key'), target('ours')],
    made: [claim('dev', '', { targetName: 'ours' })],
    ends: { dev: 'Bound' },
  },
  'a claim of a class that is not there': { made: [claim('dev', 'none')], ends: { dev: 'Pending' } },
  'a claim of a namespace that is deleted': {
    given: [claim('dev', 'local')],
    deleted: ['dev'],
    ends: { dev: 'Gone' },
  },
  'a claim of a space that is deleted': { given: [claim('dev', 'sandbox')], deleted: ['dev'], ends: { dev: 'Gone' } },
  'a claim that is deleted, of a class that keeps its target': {
    given: [claim('dev', 'kept')],
    deleted: ['dev'],
    ends: { dev: 'Gone' },
  },
};

const controllersOf = (url: string) =>
  targets({ hostNamespace: HOST, cluster: { name: 'local', roles: [], server: url } });

type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** The cluster as it is now. */
interface Look {
  readonly state: State;
  /** How much controllers would write. */
  readonly writes: number;
  plan(intents: readonly Intent[]): ClaimPlan;
}

function looking<R>({ client, url }: Alone, use: (look: Look) => R): Promise<R> {
  const controllers = controllersOf(url);
  return withTables(client, targetTables, AbortSignal.timeout(30_000), (tables) => {
    const now = Date.now();
    return use({
      state: new Map(
        targetTables.map((kind) => {
          const table = tables.of(kind);
          return [kind, new Map([...table.keys()].map((key) => [key, table.get(key)!]))];
        }),
      ),
      writes: forecast({ controllers, tables, now }).writes.length,
      plan: (intents) => planClaims({ controllers, tables, now, intents }),
    });
  });
}

/** Runs the controllers until they would do nothing more. */
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

/** Whether the cluster itself has finished: what is being deleted is gone. */
function isQuiet(state: State): boolean {
  return [...state.values()].every((objects) =>
    [...objects.values()].every(({ metadata }) => metadata.deletionTimestamp === undefined),
  );
}

/** What differs, but for what Kubernetes makes in every namespace. */
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

async function expectForetold(cluster: Alone, { given = [], made = [], deleted = [], ends }: World): Promise<void> {
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
  const { before, plan } = await looking(cluster, (look) => ({ before: look.state, plan: look.plan(intents) }));
  expect(Object.fromEntries(plan.claims.map(({ claim: key, phase }) => [key.split('/')[1], phase]))).toEqual(ends);

  for (const { kind, object } of made.map(inside)) await client.create(kind, object);
  for (const name of deleted) await client.delete(DeploymentTargetClaim, { name, namespace });
  await settle(cluster);
  const compared = async () =>
    surprises(plan.changes, differencesOf(before, await looking(cluster, ({ state }) => state)));
  // The garbage collector takes its time.
  await until(async () => (await compared()).missing.length === 0, 20_000).catch(() => {});
  expect(await compared()).toEqual({ unforeseen: [], missing: [] });
}

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOST } });
  for (const [name, spec] of Object.entries(CLASSES)) {
    const ofClass = { apiVersion: APPSTUDIO, kind: 'DeploymentTargetClass', metadata: { name }, spec };
    await client.create(DeploymentTargetClass, ofClass);
  }
}

describe.concurrent('what is planned is what happens (embedded)', () => {
  test.each(Object.entries(WORLDS))(
    '%s',
    async (_name, world) => {
      await expect(alone(prepare, (cluster) => expectForetold(cluster, world))).resolves.toBeUndefined();
    },
    60_000,
  );
});

describeReal('what is planned is what happens', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  describe.concurrent('with', () => {
    test.each(Object.entries(WORLDS))(
      '%s',
      async (_name, world) => {
        await expect(onRealCluster((cluster) => expectForetold(cluster, world))).resolves.toBeUndefined();
      },
      240_000,
    );
  });
});
