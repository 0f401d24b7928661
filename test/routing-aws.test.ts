// Routing rules that are written to AWS: the controllers on the embedded cluster, the real AWS client, and a local
// server that implements its protocol.
import { afterEach, describe, expect, test } from 'vitest';
import { mesh, Mesh, meshGroup, routingRule, RoutingRule } from '../src/api/routing.ts';
import { upstream } from '../src/api/upstream.ts';
import { createLogger, Manager } from '../src/controller/index.ts';
import type { ControllerDefinition, ManagerOptions } from '../src/controller/index.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import { Lease, WriteForbidden } from '../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../src/kube/index.ts';
import { FakeAppMesh } from '../src/routing/aws/testing/fake-app-mesh.ts';
import { routing } from '../src/routing/index.ts';
import { scenarios } from './routing/all.ts';
import { install } from './scenarios/install.ts';
import { inProcess } from './scenarios/cluster-actions.ts';
import { Namespace } from './support/core-kinds.ts';
import { until } from './support/until.ts';
import { connectAdmin } from './support/connect-admin.ts';

const NS = 'shop';
const objectsOf = (move: string): readonly AnyObject[] => scenarios.objects('rule-comes-and-goes', move, { ns: NS });

const SECRET: AnyObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'aws', namespace: NS, annotations: { resource_kind: '*v1.Secret' } },
  stringData: { aws: 'accessKey: a\nsecretKey: b\n' },
};

interface Status {
  readonly state?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

const running: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0).reverse()) await stop();
});

async function start(
  options: Pick<ManagerOptions, 'leaderElection'> = {},
  changed = (definition: ControllerDefinition): ControllerDefinition => definition,
): Promise<{ client: Client; fake: FakeAppMesh; manager: Manager }> {
  const embedded = await startEmbedded();
  running.push(() => embedded.stop());
  const client = connectAdmin(embedded);
  running.push(() => client.close());
  await install(
    client,
    [mesh, meshGroup, routingRule, upstream].map(({ crd }) => crd),
  );
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
  const fake = new FakeAppMesh();
  const awsEndpoint = await fake.start();
  running.push(() => fake.stop());
  const manager = new Manager({
    ...options,
    client,
    controllers: routing({ backend: 'appmesh-api', awsEndpoint }).map(changed),
    logger: createLogger({ level: 'silent' }),
  });
  await manager.start();
  running.push(() => manager.stop());
  return { client, fake, manager };
}

const withSecret = (object: AnyObject): AnyObject =>
  object.kind === 'Mesh'
    ? { ...object, spec: { awsAppMesh: { region: 'eu-central-1', awsSecret: { name: 'aws', namespace: NS } } } }
    : object;

async function conditionOf(client: Client, kind: typeof Mesh | typeof RoutingRule, name: string, type: string) {
  const object = (await client.get(kind as typeof Mesh, { name, namespace: NS })) as KubeObject & { status?: Status };
  const condition = object.status?.conditions?.find((each) => each.type === type);
  return condition && `${condition.status} ${condition.reason}`;
}

describe('an App Mesh in AWS', () => {
  test('follows rules and pods, reports errors, and is deleted with its Mesh', async () => {
    const { client, fake } = await start();
    const actions = inProcess(client);
    const isReady = async (): Promise<boolean> => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready';
    await actions.apply([SECRET, ...objectsOf('00-apply').map(withSecret)]);
    await until(async () => Object.keys(fake.state(NS)).length === 6 && (await isReady()), 20_000);

    await actions.apply(objectsOf('01-apply'));
    await until(async () => (await conditionOf(client, RoutingRule, 'cart', 'Ready')) === 'True Ready', 20_000);
    const router = `cart-${NS}-svc-cluster-local`;
    const route = fake.state(NS)[`route ${router}/${router}-0`] as { httpRoute: object };
    expect(route.httpRoute).toEqual({
      match: { prefix: '/' },
      action: {
        weightedTargets: [
          { virtualNode: 'cart-vn', weight: 90 },
          { virtualNode: 'cart-v2-vn', weight: 10 },
        ],
      },
    });

    fake.options = {
      fault: ({ verb }) => (verb === 'update' ? { status: 400, type: 'LimitExceededException' } : undefined),
    };
    await actions.apply(objectsOf('02-apply'));
    await until(async () => (await conditionOf(client, Mesh, NS, 'Programmed')) === 'False WRITE_REFUSED', 20_000);
    expect(await conditionOf(client, RoutingRule, 'cart', 'Ready')).toBe('False Pending');
    fake.options = {};
    await until(async () => (await conditionOf(client, RoutingRule, 'cart', 'Ready')) === 'True Ready', 30_000);
    expect(await isReady()).toBe(true);

    await actions.delete([{ ...objectsOf('05-delete')[0]! }]);
    expect(fake.state(NS)).toEqual({});
    expect(fake.has(NS)).toBe(false);
  }, 90_000);

  test('is not written without credentials, and its Mesh says what is missing', async () => {
    const { client, fake } = await start();
    await inProcess(client).apply(objectsOf('00-apply').map(withSecret));
    await until(async () => (await conditionOf(client, Mesh, NS, 'Programmed')) === 'False BACKEND_MISSING', 20_000);
    expect(fake.asked).toEqual([]);
    await inProcess(client).apply([SECRET]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready', 30_000);
  }, 60_000);

  test('is not written by a process that has lost its Lease, nor are calls repeated that had failed', async () => {
    const { client, fake, manager } = await start({ leaderElection: { namespace: NS } });
    fake.options = {
      fault: ({ verb }) => (verb === 'create' ? { status: 429, type: 'TooManyRequestsException' } : undefined),
    };
    await inProcess(client).apply([SECRET, ...objectsOf('00-apply').map(withSecret)]);
    await until(() => fake.writes.length > 0);
    const { items } = await client.list(Lease);
    for (const { metadata, spec } of items) {
      await client.patch(Lease, metadata, {
        type: 'merge',
        body: { spec: { ...spec, holderIdentity: 'another process' } },
      });
    }
    await expect(manager.done).rejects.toThrow('another process may have it now');
    const before = fake.writes;
    fake.options = {};
    await manager.stop();
    expect(fake.writes).toEqual(before);
  }, 60_000);

  test('is written as soon as the renewal of the Lease, which was late, succeeds', async () => {
    let isLate = true;
    const throwUnlessMayWrite = (): void => {
      if (isLate) throw new WriteForbidden('late');
    };
    const { client, fake } = await start({}, ({ chores = [], ...definition }) => ({
      ...definition,
      chores: chores.map((chore) => ({
        name: chore.name,
        everyMs: chore.everyMs,
        run: (context) => chore.run({ ...context, throwUnlessMayWrite }),
      })),
    }));
    await inProcess(client).apply([SECRET, ...objectsOf('00-apply').map(withSecret)]);
    await until(() => fake.asked.length > 0);
    expect(await conditionOf(client, Mesh, NS, 'Programmed')).not.toBe('False WRITE_REFUSED');
    expect(fake.writes).toEqual([]);
    isLate = false;
    await until(async () => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready', 20_000);
  }, 60_000);

  test('keeps its nodes when all pods are deleted one after the other', async () => {
    const { client, fake } = await start();
    const actions = inProcess(client);
    const isNode = (name: string): boolean => Object.hasOwn(fake.state(NS), `virtualNode ${name}`);
    await actions.apply([SECRET, ...objectsOf('00-apply').map(withSecret)]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready', 20_000);
    const pods = objectsOf('00-apply').filter(({ kind }) => kind === 'Pod');
    for (const pod of pods) await actions.delete([pod]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Programmed')) === 'False DELETION_BLOCKED', 20_000);
    expect(['front-vn', 'cart-vn', 'cart-v2-vn'].filter(isNode)).toEqual(['front-vn', 'cart-vn', 'cart-v2-vn']);
  }, 90_000);

  test('is not deleted silently when its name is changed', async () => {
    const { client, fake } = await start();
    const actions = inProcess(client);
    const objects = objectsOf('00-apply').map(withSecret);
    await actions.apply([SECRET, ...objects]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready', 20_000);
    const renamed = (fields: object): AnyObject => {
      const found = objects.find(({ kind }) => kind === 'Mesh') as AnyObject & { spec: { awsAppMesh: object } };
      return { ...found, spec: { awsAppMesh: { ...found.spec.awsAppMesh, awsName: 'other', ...fields } } };
    };
    await actions.apply([renamed({})]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Programmed')) === 'False DELETION_BLOCKED', 20_000);
    expect(fake.has('other')).toBe(true);
    expect(Object.keys(fake.state(NS))).toHaveLength(6);
    await actions.apply([renamed({ allowEmpty: true })]);
    await until(async () => (await conditionOf(client, Mesh, NS, 'Ready')) === 'True Ready', 20_000);
    expect(fake.has(NS)).toBe(false);
  }, 90_000);
});
