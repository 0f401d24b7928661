// Control planes on an embedded cluster that first have nothing to complain of, and then all that alerts are for.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { Istio } from '../../src/api/istio.ts';
import { RoutingRule } from '../../src/api/routing.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../src/api/targets.ts';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import type { Part } from '../../src/cli/run/parts.ts';
import { createLogger, createMetrics, defineController, Manager } from '../../src/controller/index.ts';
import type { Metrics } from '../../src/controller/index.ts';
import { istioDefinitions } from '../../src/embedded/crd/bundled/istio.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import { Deployment, environments } from '../../src/environments/index.ts';
import * as orphans from '../../src/environments/testing/orphan-world.ts';
import { apiVersionOf, connect, defineKind } from '../../src/kube/index.ts';
import type { AnyObject, Client, ConnectConfig, Kind, KubeObject } from '../../src/kube/index.ts';
import { builtinRenderer } from '../../src/mesh/index.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { startChaos } from '../support/chaos-proxy.ts';
import { until } from '../support/until.ts';
import type { Scrape } from './prometheus.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Service = defineKind('v1', 'Service', 'services');
const LimitRange = defineKind('v1', 'LimitRange', 'limitranges');
const logger = createLogger({ level: 'silent' });

const MINUTE = 60;
/** When the story begins, in seconds since 1970: every scrape counts as one a minute after the last. */
const START = Math.floor(Date.now() / 1000 / 7200) * 7200 - 6 * 3600;

export interface Story {
  readonly scrapes: readonly Scrape[];
  /** Everything is healthy. */
  readonly well: number;
  /** Moments at which something is wrong: not everything at all of them. */
  readonly wrong: readonly number[];
}

/** Controllers of a part that has defects: its plans throw, or nobody carries them out. */
const defective: Part = {
  name: 'defective',
  lease: 'defective',
  resources: [],
  controllers: () => [
    defineController({
      name: 'throws',
      kind: LimitRange,
      ownsStatus: false,
      plan: () => {
        throw new Error('a defect');
      },
    }),
    defineController({ name: 'stuck', kind: LimitRange, ownsStatus: false, workers: 0, plan: () => ({}) }),
  ],
};

/** Lets it all happen, and tells what was scraped meanwhile. */
export async function tellStory(): Promise<Story> {
  const cluster = await startEmbedded();
  const chaos = await startChaos({ target: { url: cluster.url, caPem: cluster.caPem, token: cluster.admin.token } });
  const config = { server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token };
  const client = connect(config);
  const stops: (() => unknown)[] = [() => client.close(), () => chaos.stop(), () => cluster.stop()];
  try {
    const stranger = { ...config, impersonate: { user: 'stranger' } };
    const fail = (times: number): void => chaos.next(...Array<'error'>(times).fill('error'));
    return await happen({ client, server: chaos.url, stranger, fail }, stops);
  } finally {
    vi.restoreAllMocks();
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  }
}

interface World {
  readonly client: Client;
  readonly server: string;
  /** Somebody without any rights. */
  readonly stranger: ConnectConfig;
  /** So many requests are answered with an error. */
  readonly fail: (times: number) => void;
}

async function happen({ client, server, stranger, fail }: World, stops: (() => unknown)[]): Promise<Story> {
  const scrapes: Scrape[] = [];
  let now = START;
  const scrape = async (who: Readonly<Record<string, Metrics>>): Promise<number> => {
    now += MINUTE;
    for (const [instance, metrics] of Object.entries(who)) {
      scrapes.push({ instance, at: now, text: await metrics.text() });
    }
    return now;
  };
  for (const definition of Object.values(istioDefinitions())) {
    await client.create(Definition, definition as unknown as AnyObject);
  }
  for (const name of ['shop', 'team', 'trouble', 'kyma-system']) await create(client, Namespace, { name });
  const start = async (): Promise<ControlPlane> => {
    const plane = await startControlPlane({
      config: { server },
      parts: [...partsOf(), defective],
      settings: { drainMs: 0, settleMs: 0, removeOrphans: false },
      mesh: { renderer: builtinRenderer },
      namespace: 'kube-system',
      leaderElect: true,
      webhook: { port: 0, reach: 'loopback' },
      logger,
      prepare: (each) => installDefinitions(each, partsOf()),
    });
    stops.push(() => plane.stop());
    return plane;
  };
  const first = await start();
  const standby = await start();
  const both = { first: first.manager.metrics, standby: standby.manager.metrics };
  await deploy(client, 'cart');
  await environment(client, 'well', 'cart');
  await until(async () => (await both.first.text()).includes('offshoot_environment_ready_seconds_count 1'));
  for (let minute = 0; minute < 15; minute++) await scrape(both);
  const well = now;

  // Ten minutes pass for whoever waits for its base.
  await environment(client, 'late', 'orders');
  await until(async () => (await stateOf(client, 'late')) === 'degraded');
  const clock = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + 600_000);
  await deploy(client, 'orders');
  await until(async () => (await both.first.text()).includes('offshoot_environment_ready_seconds_count 2'));
  vi.restoreAllMocks();

  const wrong: number[] = [];
  await cause(client);
  const strangers = ['a', 'b', 'c'].map((name) => [name, startForbidden(stranger, stops)] as const);
  const unlucky = connect({ server }, { onRequest: (report) => both.first.request(report) });
  stops.push(() => unlucky.close());
  for (let minute = 0; minute < 15; minute++) {
    // Whoever asks next: these, or the controllers.
    fail(20);
    for (let times = 0; times < 20; times++) await unlucky.list(Namespace).catch(() => undefined);
    await ask(first.webhookUrl!);
    await client.list(Namespace);
    await delay(200);
    wrong.push(await scrape({ ...both, ...Object.fromEntries(strangers) }));
  }

  // One that is started again and again.
  for (let uptime = 400; uptime > 0; uptime -= 100) {
    vi.spyOn(process, 'uptime').mockReturnValue(uptime);
    await scrape({ restarted: createMetrics({ version: '1.0.0' }) });
  }
  wrong.push(now);
  now += 10 * MINUTE;
  wrong.push(await scrape({ standby: standby.manager.metrics }), now + 30 * MINUTE);
  return { scrapes, well, wrong };
}

/** A replica without any rights. */
function startForbidden(config: ConnectConfig, stops: (() => unknown)[]): Metrics {
  const metrics = createMetrics({ version: '1.0.0' });
  const client = connect(config, { onRequest: (report) => metrics.request(report) });
  const manager = new Manager({ client, controllers: environments(), logger, metrics });
  stops.push(async () => {
    await manager.stop();
    client.close();
  });
  void manager.start();
  return metrics;
}

/** What people do wrong, and what breaks. */
async function cause(client: Client): Promise<void> {
  for (let at = 0; at < 110; at++) await create(client, LimitRange, { name: `range-${at}`, namespace: 'trouble' });
  await environment(client, 'baseless', 'nothing');
  // Requests that no environment has to do with now reach clones.
  const cart = { name: 'cart', namespace: 'shop' };
  const { spec } = await client.get(VirtualService, cart);
  const plain = { match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'cart' } }] };
  await client.patch(VirtualService, cart, { type: 'merge', body: { spec: { http: [plain, ...(spec?.http ?? [])] } } });
  const status = { observedGeneration: '1', conditions: [{ type: 'Reconciled', status: 'False' }] };
  await client.patch(VirtualService, cart, { type: 'merge', body: { status } }, { subresource: 'status' });
  const { managedFields: _fields, uid: _uid, ...metadata } = orphans.rule.metadata;
  const body = { ...orphans.rule, metadata };
  await client.patch(
    DestinationRule,
    metadata,
    { type: 'apply', body, force: true },
    { fieldManager: 'offshoot-environments' },
  );
  const target = { name: 'gone', namespace: 'team' };
  const kubernetesCredentials = {
    defaultNamespace: 'team',
    apiURL: 'https://cluster',
    clusterCredentialsSecret: 'none',
  };
  await create(client, DeploymentTarget, target, { spec: { deploymentTargetClassName: '', kubernetesCredentials } });
  await client.patch(
    DeploymentTarget,
    target,
    { type: 'merge', body: { status: { phase: 'Failed' } } },
    { subresource: 'status' },
  );
  await create(client, DeploymentTargetClaim, target, { spec: { deploymentTargetClassName: '' } });
  await client.patch(
    DeploymentTargetClaim,
    target,
    { type: 'merge', body: { status: { phase: 'Lost' } } },
    { subresource: 'status' },
  );
  await create(client, Istio, { name: 'elsewhere', namespace: 'team' });
  await create(
    client,
    RoutingRule,
    { name: 'nowhere', namespace: 'team' },
    { spec: { targetMesh: { name: 'none', namespace: 'team' } } },
  );
}

/** Asks a webhook for what it cannot answer. */
async function ask(url: string): Promise<void> {
  const [path] = partsOf(['environments'])[0]!.webhook!.paths;
  const request = get(`${url}${path}`, { rejectUnauthorized: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
}

async function stateOf(client: Client, name: string): Promise<string | undefined> {
  return (await client.get(DynamicEnv, { name, namespace: 'shop' })).status?.state;
}

/** A workload that can have environments. */
async function deploy(client: Client, name: string): Promise<void> {
  const metadata = { name, namespace: 'shop' };
  const labels = { app: name, version: 'shared' };
  const template = { metadata: { labels }, spec: { containers: [{ name, image: `${name}:1` }] } };
  await create(client, Service, metadata, { spec: { selector: { app: name }, ports: [{ port: 9080 }] } });
  await create(client, DestinationRule, metadata, {
    spec: { host: name, subsets: [{ name: 'shared', labels: { version: 'shared' } }] },
  });
  await create(client, VirtualService, metadata, {
    spec: { hosts: [name], http: [{ route: [{ destination: { host: name, subset: 'shared' } }] }] },
  });
  await create(client, Deployment, metadata, { spec: { selector: { matchLabels: labels }, template } });
}

/** An environment of one workload. */
function environment(client: Client, name: string, workload: string): Promise<unknown> {
  const subset = {
    name: workload,
    namespace: 'shop',
    containers: [{ containerName: workload, image: `${workload}:2` }],
  };
  return create(client, DynamicEnv, { name, namespace: 'shop' }, { spec: { key: name, subsets: [subset] } });
}

function create(
  client: Client,
  kind: Kind<KubeObject>,
  metadata: KubeObject['metadata'],
  rest: object = {},
): Promise<unknown> {
  return client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...rest });
}
