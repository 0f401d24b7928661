// What is planned for environments is what controllers then do, on both clusters: for some fixed worlds, every change that
// was foretold happens, and nothing else does.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { DryRuns } from '../../src/cli/objects/dry-runs.ts';
import { withTables } from '../../src/cli/objects/tables.ts';
import { changesOf, createLogger, Manager, reportedChange } from '../../src/controller/index.ts';
import type { FieldChange, Intent, ReportedChange } from '../../src/controller/index.ts';
import { defaultSettings, environments, environmentTables, planEnvironments } from '../../src/environments/index.ts';
import type { EnvironmentPlan } from '../../src/environments/index.ts';
import { withoutDeploymentStatus } from '../../src/environments/forecast/plan-environments.ts';
import { withRouteFields } from '../../src/environments/forecast/route-fields.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { WATCH_ANNOTATION } from '../../src/environments/ownership.ts';
import type { AnyKind, Client, KubeObject } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters } from '../scenarios/alone.ts';
import { differencesOf } from '../support/foretold.ts';
import type { State } from '../support/foretold.ts';
import { surprises } from '../support/foretold-on-clusters.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, makeWorkload, workload } from './workload.ts';

const SETTINGS = { ...defaultSettings, settleMs: 0, drainMs: 0 };
const KINDS = [DynamicEnv, Deployment, DestinationRule, VirtualService] as const;

/** What somebody does in a namespace that has the workloads `cart` and `pay`. */
interface World {
  /** The workloads of the environment that is there, and ready; none: there is none. */
  readonly given?: readonly string[];
  /** Done behind the controllers' back, while they do not run. */
  meddle?(client: Client, namespace: string): Promise<unknown>;
  /** The environment as it is applied; `delete`: it is deleted. */
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
  'a clone that somebody has changed': {
    given: ['cart'],
    meddle: (client, namespace) =>
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
  'routes that somebody has reset': {
    given: ['cart'],
    meddle: (client, namespace) => {
      const { spec } = workload(namespace, 'cart').routes;
      return client.patch(VirtualService, { name: 'cart', namespace }, { type: 'merge', body: { spec } });
    },
    changes: ['change VirtualService'],
    state: 'ready',
  },
  'a clone that another program has made for it, with more than it should have': {
    async meddle(client, namespace) {
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

/** The objects of a namespace, and what is planned for its environment. */
function look(client: Client, namespace: string, intents: readonly Intent[] = []) {
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

/** Runs the controllers until they would do nothing more. */
async function settle(client: Client, namespace: string): Promise<void> {
  const manager = new Manager({
    client,
    controllers: environments(SETTINGS),
    logger: createLogger({ level: 'silent' }),
  });
  await manager.start();
  try {
    await until(async () => {
      const { plan } = await look(client, namespace);
      return manager.idle && plan.changes.length === 0 && plan.assumedReady.length === 0;
    }, 60_000);
  } finally {
    await manager.stop();
  }
}

const summary = ({ changes }: Pick<EnvironmentPlan, 'changes'>): string[] =>
  changes.map(({ do: verb, kind }) => `${verb} ${kind}`);

/** What differs. The status of Deployments is not ours, nor is the number of their revision. */
function happenedBetween(before: State, after: State): readonly ReportedChange[] {
  const isOurs = ({ path }: FieldChange): boolean => !path.includes('deployment.kubernetes.io/revision');
  return changesOf(differencesOf(before, after).map(withoutDeploymentStatus))
    .map(withRouteFields)
    .map((change) => ({ ...change, fields: change.fields.filter(isOurs) }))
    .map(reportedChange);
}

async function expectForetold(client: Client, world: World): Promise<void> {
  const namespace = `ns-${randomBytes(4).toString('hex')}`;
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of ['cart', 'pay']) await makeWorkload(client, namespace, name);
  if (world.given !== undefined) await client.create(DynamicEnv, envOf(namespace, ...world.given));
  await settle(client, namespace);
  await world.meddle?.(client, namespace);
  const ref = { name: 'feature', namespace };
  const applying = (dryRun: boolean): Promise<DynamicEnv> => {
    const body = (world.intended as (namespace: string) => DynamicEnv)(namespace);
    return client.patch(DynamicEnv, ref, { type: 'apply', body, force: true }, { fieldManager: 'test', dryRun });
  };
  const intents: Intent[] =
    world.intended === undefined
      ? []
      : [
          world.intended === 'delete'
            ? { kind: DynamicEnv, delete: ref }
            : { kind: DynamicEnv, put: await applying(true) },
        ];
  const { state: before, plan } = await look(client, namespace, intents);
  expect(summary(plan)).toEqual(world.changes);
  expect(plan.environments.map(({ state }) => state)).toEqual([world.state]);

  if (world.intended === 'delete') await client.delete(DynamicEnv, ref);
  else if (world.intended !== undefined) await applying(false);
  await settle(client, namespace);
  const { state: after } = await look(client, namespace);
  expect(surprises(plan.changes, happenedBetween(before, after))).toEqual({ unforeseen: [], missing: [] });
}

describe.concurrent('what is planned is what happens (embedded)', () => {
  test.each(Object.entries(WORLDS))(
    '%s',
    async (_name, world) => {
      await expect(alone(installKinds, ({ client }) => expectForetold(client, world))).resolves.toBeUndefined();
    },
    60_000,
  );
});

describeReal('what is planned is what happens', () => {
  const onRealCluster = aloneOnRealClusters(installKinds);

  describe.concurrent('with', () => {
    test.each(Object.entries(WORLDS))(
      '%s',
      async (_name, world) => {
        await expect(onRealCluster(({ client }) => expectForetold(client, world))).resolves.toBeUndefined();
      },
      240_000,
    );
  });
});
