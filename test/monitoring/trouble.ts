// Control planes on an embedded cluster, which are healthy at first and then have every trouble that an alert is for.
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
import { CustomResourceDefinition, Namespace, Service } from '../support/core-kinds.ts';
import { until } from '../support/until.ts';
import type { Scrape } from './prometheus.ts';

const LimitRange = defineKind('v1', 'LimitRange', 'limitranges');
const logger = createLogger({ level: 'silent' });

const MINUTE = 60;
/** The start of the recording, in seconds since 1970: each scrape counts as a minute after the last. */
const START = Math.floor(Date.now() / 1000 / 7200) * 7200 - 6 * 3600;

export interface Recording {
  readonly scrapes: readonly Scrape[];
  /** A moment at which everything is healthy. */
  readonly healthyAt: number;
  /** Moments with trouble: not every trouble exists at each of them. */
  readonly troubledAt: readonly number[];
}

/** A part whose controllers have defects: a plan that throws, and a queue without workers. */
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

/** Runs the control planes, causes all troubles, and returns the scrapes. */
export async function recordTrouble(): Promise<Recording> {
  const cluster = await startEmbedded();
  const chaos = await startChaos({ target: { url: cluster.url, caPem: cluster.caPem, token: cluster.admin.token } });
  const config = { server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token };
  const client = connect(config);
  const stops: (() => unknown)[] = [() => client.close(), () => chaos.stop(), () => cluster.stop()];
  try {
    const stranger = { ...config, impersonate: { user: 'stranger' } };
    const fail = (times: number): void => chaos.next(...Array<'error'>(times).fill('error'));
    return await record({ client, server: chaos.url, stranger, fail }, stops);
  } finally {
    vi.restoreAllMocks();
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  }
}

interface World {
  readonly client: Client;
  readonly server: string;
  /** A user without any permissions. */
  readonly stranger: ConnectConfig;
  /** Lets the next requests fail. */
  readonly fail: (times: number) => void;
}

async function record({ client, server, stranger, fail }: World, stops: (() => unknown)[]): Promise<Recording> {
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
    await client.create(CustomResourceDefinition, definition as unknown as AnyObject);
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
  const healthyAt = now;

  // An environment waits ten minutes for its base.
  await environment(client, 'late', 'orders');
  await until(async () => (await stateOf(client, 'late')) === 'degraded');
  const clock = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + 600_000);
  await deploy(client, 'orders');
  await until(async () => (await both.first.text()).includes('offshoot_environment_ready_seconds_count 2'));
  vi.restoreAllMocks();

  const troubledAt: number[] = [];
  await causeTrouble(client);
  const strangers = ['a', 'b', 'c'].map((name) => [name, startForbidden(stranger, stops)] as const);
  const unlucky = connect({ server }, { onRequest: (report) => both.first.request(report) });
  stops.push(() => unlucky.close());
  for (let minute = 0; minute < 15; minute++) {
    // The errors hit either these requests or those of the controllers.
    fail(20);
    for (let times = 0; times < 20; times++) await unlucky.list(Namespace).catch(() => undefined);
    await sendBadRequest(first.webhookUrl!);
    await client.list(Namespace);
    await delay(200);
    troubledAt.push(await scrape({ ...both, ...Object.fromEntries(strangers) }));
  }

  // A process that keeps restarting.
  for (let uptime = 400; uptime > 0; uptime -= 100) {
    vi.spyOn(process, 'uptime').mockReturnValue(uptime);
    await scrape({ restarted: createMetrics({ version: '1.0.0' }) });
  }
  troubledAt.push(now);
  now += 10 * MINUTE;
  troubledAt.push(await scrape({ standby: standby.manager.metrics }), now + 30 * MINUTE);
  return { scrapes, healthyAt, troubledAt };
}

/** Starts a replica without any permissions. */
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

/** Creates and edits objects so that alerts fire. */
async function causeTrouble(client: Client): Promise<void> {
  for (let at = 0; at < 110; at++) await create(client, LimitRange, { name: `range-${at}`, namespace: 'trouble' });
  await environment(client, 'baseless', 'nothing');
  // Requests without a key now reach clones.
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

/** Sends a bad request to a webhook. */
async function sendBadRequest(url: string): Promise<void> {
  const [path] = partsOf(['environments'])[0]!.webhook!.paths;
  const request = get(`${url}${path}`, { rejectUnauthorized: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
}

async function stateOf(client: Client, name: string): Promise<string | undefined> {
  return (await client.get(DynamicEnv, { name, namespace: 'shop' })).status?.state;
}

/** Creates a workload that can have environments. */
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

/** Creates an environment of one workload. */
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
