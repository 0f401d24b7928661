// Plans of environments are exact, on both clusters: for some fixed worlds and a few random ones, the controllers make
// every planned change, in the planned order, and no other.
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { DryRuns } from '../../src/cli/objects/dry-runs.ts';
import { withTables } from '../../src/cli/objects/tables.ts';
import { changesOf, createLogger, Manager, reportedChange } from '../../src/controller/index.ts';
import type { FieldChange, Intent, ReportedChange, Write } from '../../src/controller/index.ts';
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../src/environments/index.ts';
import type { EnvironmentPlan } from '../../src/environments/index.ts';
import { withoutDeploymentStatus } from '../../src/environments/forecast/plan-environments.ts';
import { withRouteFields } from '../../src/environments/forecast/route-fields.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { environmentsOf, WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import type { AnyKind, Client, KubeObject } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters } from '../scenarios/alone.ts';
import { differencesOf } from '../support/planned-changes.ts';
import type { State } from '../support/planned-changes.ts';
import { surprises } from '../support/planned-changes-on-clusters.ts';
import { idOf, recordingClient } from '../support/recording-client.ts';
import type { LoggedWrite } from '../support/recording-client.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { describeWorld, editByHand, randomPlanWorld } from './random-plan-worlds.ts';
import type { EnvironmentDraft, RandomPlanWorld } from './random-plan-worlds.ts';
import { inOrder, misordered } from './write-order.ts';
import { environment, makeWorkload, workload } from './workload.ts';

const SETTINGS = { ...defaultSettings, settleMs: 0, drainMs: 0 };
const KINDS = [DynamicEnv, Deployment, DestinationRule, VirtualService] as const;

/** A change in a namespace that has the workloads `cart` and `pay`. */
interface World {
  /** The workloads of an existing environment that is ready; absent: there is none. */
  readonly given?: readonly string[];
  /** A change by hand, while the controllers do not run. */
  changeByHand?(client: Client, namespace: string): Promise<unknown>;
  /** The environment to apply; `delete`: it is deleted. */
  readonly intended?: ((namespace: string) => DynamicEnv) | 'delete';
  readonly changes: readonly string[];
  readonly state: string;
}

const envOf = (namespace: string, ...names: readonly string[]): DynamicEnv =>
  environment(
    namespace,
    'feature',
    names.map((name) => ({ name, namespace })),
  );

const WORLDS: Readonly<Record<string, World>> = {
  'a new environment': {
    intended: (namespace) => envOf(namespace, 'cart'),
    changes: ['make DynamicEnv', 'make Deployment', 'make DestinationRule', 'change VirtualService'],
    state: 'ready',
  },
  'an environment whose Deployment does not exist': {
    intended: (namespace) => envOf(namespace, 'ghost'),
    changes: ['make DynamicEnv'],
    state: 'degraded',
  },
  'nothing to do': { given: ['cart'], changes: [], state: 'ready' },
  'a changed image': {
    given: ['cart'],
    intended: (namespace) => {
      const env = envOf(namespace, 'cart');
      const containers = [{ containerName: 'cart', image: 'cart:3' }];
      return { ...env, spec: { ...env.spec, subsets: [{ name: 'cart', namespace, containers }] } };
    },
    changes: ['change DynamicEnv', 'change Deployment'],
    state: 'ready',
  },
  'a clone that was changed by hand': {
    given: ['cart'],
    changeByHand: (client, namespace) =>
      client.patch(
        Deployment,
        { name: `cart-${namespace}-feature`, namespace },
        {
          type: 'strategic',
          body: { spec: { template: { spec: { containers: [{ name: 'cart', image: 'cart:9' }] } } } },
        },
        { fieldManager: 'kubectl-edit' },
      ),
    changes: ['change Deployment'],
    state: 'ready',
  },
  'routes that were removed by hand': {
    given: ['cart'],
    changeByHand: (client, namespace) => {
      const { spec } = workload(namespace, 'cart').routes;
      return client.patch(VirtualService, { name: 'cart', namespace }, { type: 'merge', body: { spec } });
    },
    changes: ['change VirtualService'],
    state: 'ready',
  },
  'a clone of another program, with additional fields': {
    async changeByHand(client, namespace) {
      const { spec, apiVersion, kind } = await client.get(Deployment, { name: 'cart', namespace });
      const labels = { ...spec.selector.matchLabels, version: `${namespace}-feature` };
      const annotations = { [WATCH_ANNOTATION]: `${namespace}/feature`, legacy: 'yes' };
      const template = { ...spec.template, metadata: { labels: { ...spec.template.metadata?.labels, ...labels } } };
      const metadata = { name: `cart-${namespace}-feature`, namespace, labels, annotations };
      const more = { selector: { matchLabels: labels }, template, minReadySeconds: 1 };
      const clone = { apiVersion, kind, metadata, spec: { ...spec, ...more } };
      await client.create(Deployment, clone, { fieldManager: 'original' });
    },
    intended: (namespace) => envOf(namespace, 'cart'),
    changes: ['make DynamicEnv', 'change Deployment', 'make DestinationRule', 'change VirtualService'],
    state: 'ready',
  },
  'a subset that is removed': {
    given: ['cart', 'pay'],
    intended: (namespace) => envOf(namespace, 'cart'),
    changes: ['change DynamicEnv', 'change VirtualService', 'remove DestinationRule', 'remove Deployment'],
    state: 'ready',
  },
  'an environment that is deleted': {
    given: ['cart'],
    intended: 'delete',
    changes: ['change VirtualService', 'remove DestinationRule', 'remove Deployment', 'remove DynamicEnv'],
    state: 'gone',
  },
};

/** The objects of a namespace, and the plan for its environment. */
function observe(client: Client, namespace: string, intents: readonly Intent[] = []) {
  const signal = AbortSignal.timeout(30_000);
  return withTables(client, environmentTables, signal, async (tables) => {
    const state: State = new Map<AnyKind, ReadonlyMap<string, KubeObject>>(
      KINDS.map((kind) => {
        const table = tables.of<KubeObject>(kind);
        const keys = [...table.keys()].filter((key) => key.startsWith(`${namespace}/`));
        return [kind, new Map(keys.map((key) => [key, table.get(key)!]))];
      }),
    );
    const controllers = environments(SETTINGS);
    const asked = [...state.get(DynamicEnv)!.values()].map(({ metadata }) => metadata);
    const planning = { controllers, settings: SETTINGS, tables, now: Date.now(), environments: asked, intents };
    const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
    const plan = await dryRuns.repeat((known) => planEnvironments({ ...planning, ...known }));
    return { state, plan };
  });
}

/** Runs the controllers until they settle, and adds what they write to the log. */
async function settle(client: Client, namespace: string, log: LoggedWrite[] = []): Promise<void> {
  const manager = new Manager({
    client: recordingClient(client, log, 'controllers'),
    controllers: environments(SETTINGS),
    logger: createLogger({ level: 'silent' }),
  });
  await manager.start();
  try {
    await until(async () => {
      const { plan } = await observe(client, namespace);
      return manager.idle && plan.changes.length === 0 && plan.assumedReady.length === 0;
    }, 60_000);
  } finally {
    await manager.stop();
  }
}

const summary = ({ changes }: Pick<EnvironmentPlan, 'changes'>): string[] =>
  changes.map(({ do: verb, kind }) => `${verb} ${kind}`);

/** The differences as a plan reports them, without the status and revision of Deployments, which are not ours. */
function reported(differences: readonly Write[]): readonly ReportedChange[] {
  const isOurs = ({ path }: FieldChange): boolean => !path.includes('deployment.kubernetes.io/revision');
  return changesOf(differences.map(withoutDeploymentStatus))
    .map(withRouteFields)
    .map((change) => ({ ...change, fields: change.fields.filter(isOurs) }))
    .filter((change) => change.do !== 'change' || change.fields.length > 0)
    .map(reportedChange);
}

/** A clone or rule is written by the plan of its environment. */
function withAuthor(write: Write): Write {
  const [owner] = write.kind === VirtualService ? [] : environmentsOf((write.after ?? write.before)!);
  return owner === undefined ? write : { ...write, by: `${DynamicEnv.kind} ${owner}` };
}

/** A new namespace with two workloads. */
async function makeNamespace(client: Client): Promise<string> {
  const namespace = `ns-${randomBytes(4).toString('hex')}`;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of ['cart', 'pay']) await makeWorkload(client, namespace, name);
  return namespace;
}

/** An environment that a user applies or deletes. */
type Edit = { readonly put: DynamicEnv } | { readonly delete: string };

/** Makes a plan, carries it out, and expects that the controllers do what it says. */
async function expectExactEdits(client: Client, namespace: string, edits: readonly Edit[]): Promise<EnvironmentPlan> {
  const refOf = (edit: Edit) => ({ name: 'put' in edit ? edit.put.metadata.name : edit.delete, namespace });
  const applying = (body: DynamicEnv, dryRun: boolean): Promise<DynamicEnv> =>
    client.patch(DynamicEnv, body.metadata, { type: 'apply', body, force: true }, { fieldManager: 'test', dryRun });
  const intents: Intent[] = [];
  for (const edit of edits) {
    if ('put' in edit) intents.push({ kind: DynamicEnv, put: await applying(edit.put, true) });
    else intents.push({ kind: DynamicEnv, delete: refOf(edit) });
  }
  const { state: before, plan } = await observe(client, namespace, intents);
  const log: LoggedWrite[] = [];
  for (const edit of edits) {
    if ('put' in edit) await applying(edit.put, false);
    else await client.delete(DynamicEnv, refOf(edit));
    log.push({ object: idOf(DynamicEnv, refOf(edit)), by: 'user' });
  }
  await settle(client, namespace, log);
  const { state: after } = await observe(client, namespace);
  const happened = inOrder(differencesOf(before, after), log).map(withAuthor);
  expect(surprises(plan.changes, reported(happened))).toEqual({ unplanned: [], missing: [] });
  expect(misordered(plan.changes, happened), 'in the order of the writes').toEqual([]);
  return plan;
}

async function expectExactPlan(client: Client, world: World): Promise<void> {
  const namespace = await makeNamespace(client);
  if (world.given !== undefined) await client.create(DynamicEnv, envOf(namespace, ...world.given));
  await settle(client, namespace);
  await world.changeByHand?.(client, namespace);
  const { intended } = world;
  const edit = intended && (intended === 'delete' ? { delete: 'feature' } : { put: intended(namespace) });
  const plan = await expectExactEdits(client, namespace, edit === undefined ? [] : [edit]);
  expect(summary(plan)).toEqual(world.changes);
  expect(plan.environments.map(({ state }) => state)).toEqual([world.state]);
}

async function expectExactPlanInRandom(client: Client, world: RandomPlanWorld): Promise<void> {
  const namespace = await makeNamespace(client);
  const environmentOf = ({ name, annotations, spec }: EnvironmentDraft): DynamicEnv => ({
    ...envOf(namespace),
    metadata: { name, namespace, ...(annotations && { annotations }) },
    spec: spec(namespace),
  });
  for (const each of world.given) await client.create(DynamicEnv, environmentOf(each));
  const created = Date.now();
  await settle(client, namespace);
  for (const each of world.byHand) await editByHand(client, namespace, each);
  const edits = world.intended.map(({ environment: draft, isDeleted }) =>
    isDeleted ? { delete: draft.name } : { put: environmentOf(draft) },
  );
  // Routes are in the order of the seconds of creation.
  await until(() => Date.now() > created + 1_000);
  await expectExactEdits(client, namespace, edits);
}

const RANDOM = fc.sample(randomPlanWorld, { numRuns: 5, seed: fc.readConfigureGlobal().seed! });
const RANDOM_WORLDS = RANDOM.map((world, i) => [`random world ${i + 1}`, world] as const);

describe.concurrent('a plan is exact (embedded)', () => {
  test.each(Object.entries(WORLDS))(
    '%s',
    async (_name, world) => {
      await expect(alone(installKinds, ({ client }) => expectExactPlan(client, world))).resolves.toBeUndefined();
    },
    60_000,
  );

  test.each(RANDOM_WORLDS)(
    '%s',
    async (_name, world) => {
      const played = alone(installKinds, ({ client }) => expectExactPlanInRandom(client, world));
      await expect(played, describeWorld(world)).resolves.toBeUndefined();
    },
    60_000,
  );
});

describeReal('a plan is exact', () => {
  const onRealCluster = aloneOnRealClusters(installKinds);

  describe.concurrent('for', () => {
    test.each(Object.entries(WORLDS))(
      '%s',
      async (_name, world) => {
        await expect(onRealCluster(({ client }) => expectExactPlan(client, world))).resolves.toBeUndefined();
      },
      240_000,
    );

    test.each(RANDOM_WORLDS)(
      '%s',
      async (_name, world) => {
        const played = onRealCluster(({ client }) => expectExactPlanInRandom(client, world));
        await expect(played, describeWorld(world)).resolves.toBeUndefined();
      },
      240_000,
    );
  });
});
