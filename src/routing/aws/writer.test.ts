import { afterEach, describe, expect, test } from 'vitest';
import { systemClock, WriteForbidden } from '../../kube/index.ts';
import type { Body } from '../backends/appmesh-api.ts';
import type { Guards } from '../reconcile/decide.ts';
import { ownerOf } from './resources.ts';
import type { RetryPolicy } from './retry.ts';
import { connectAppMesh, SdkMissing } from './sdk.ts';
import { FakeAppMesh } from './testing/fake-app-mesh.ts';
import type { ApiCall, Fault, FakeOptions } from './testing/fake-app-mesh.ts';
import { syncMesh } from './writer.ts';
import type { Result, StoredSpecs } from './writer.ts';

const MESH = 'store';
const OWNER = ownerOf('cluster', 'mesh-system/store');
const GUARDS: Guards = {
  unresolved: [],
  unresolvedHosts: [],
  adopt: false,
  allowEmpty: false,
  maxDeleteFraction: 0.5,
  isDeleting: false,
};
const RETRY_POLICY: RetryPolicy = { clock: systemClock, attempts: 6, firstDelayMs: 1, random: () => 0.5 };

const node = (name: string, backends: readonly string[] = []): Body => ({
  meshName: MESH,
  virtualNodeName: name,
  spec: {
    backends: backends.map((virtualServiceName) => ({ virtualService: { virtualServiceName } })),
    listeners: [{ portMapping: { port: 80, protocol: 'http' } }],
    serviceDiscovery: { dns: { hostname: `${name}.svc` } },
  },
});
const service = (of: string, router?: string): Body => ({
  meshName: MESH,
  virtualServiceName: `${of}.svc`,
  spec: {
    provider: router ? { virtualRouter: { virtualRouterName: router } } : { virtualNode: { virtualNodeName: of } },
  },
});
const router = (name: string): Body => ({
  meshName: MESH,
  virtualRouterName: name,
  spec: { listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
});
const route = (of: string, name: string, target: string, weight = 100): Body => ({
  meshName: MESH,
  routeName: name,
  virtualRouterName: of,
  spec: { httpRoute: { match: { prefix: '/' }, action: { weightedTargets: [{ virtualNode: target, weight }] } } },
});

const PLAIN = [node('a', ['b.svc']), node('b', ['a.svc']), service('a'), service('b')];
const ROUTED = [
  node('a', ['b.svc']),
  node('b', ['a.svc']),
  router('r'),
  route('r', 'r-0', 'b'),
  service('a', 'r'),
  service('b'),
];

const running: { stop(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

interface Aws {
  readonly fake: FakeAppMesh;
  readonly write: (bodies: readonly Body[], guards?: Partial<Guards>, owner?: string) => Promise<Result>;
  /** Writes as a process that has just started. */
  readonly writeAnew: (bodies: readonly Body[]) => Promise<Result>;
  /** Writes until there is nothing left to do, as the controller does. */
  readonly settle: (bodies: readonly Body[], guards?: Partial<Guards>) => Promise<Result>;
}

/** Requests that hang are given up after `timeoutMs`. */
async function start(options: FakeOptions = {}, timeoutMs = 30_000): Promise<Aws> {
  const fake = new FakeAppMesh(options);
  const endpoint = await fake.start();
  const api = await connectAppMesh({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    endpoint,
    timeoutMs,
  });
  running.push({ stop: () => api.close() }, fake);
  const storedSpecs: StoredSpecs = new Map();
  const write: Aws['write'] = (bodies, guards = {}, owner = OWNER) =>
    syncMesh(
      bodies,
      { api, meshName: MESH, owner, guards: { ...GUARDS, ...guards }, retryPolicy: RETRY_POLICY },
      storedSpecs,
    );
  const writeAnew: Aws['writeAnew'] = (bodies) =>
    syncMesh(bodies, { api, meshName: MESH, owner: OWNER, guards: GUARDS, retryPolicy: RETRY_POLICY }, new Map());
  const settle: Aws['settle'] = async (bodies, guards) => {
    let result = await write(bodies, guards);
    for (let again = 0; again < 20 && (result.isUnfinished || result.problems.length > 0); again++) {
      result = await write(bodies, guards);
    }
    return result;
  };
  return { fake, write, writeAnew, settle };
}

describe('syncMesh', () => {
  test('creates a mesh, referenced resources first, all with our tags', async () => {
    const { fake, write } = await start();
    expect(await write(ROUTED)).toEqual({
      writes: 7,
      problems: [],
      isUnfinished: false,
      isWaiting: false,
      isGone: false,
    });
    expect(fake.writes).toEqual([
      'create mesh store',
      'create virtualNode a',
      'create virtualNode b',
      'create virtualRouter r',
      'create route r-0',
      expect.stringMatching(/^create virtualService [ab].svc$/),
      expect.stringMatching(/^create virtualService [ab].svc$/),
    ]);
    expect(fake.tagsOf('route', MESH, 'r-0', 'r')).toMatchObject({
      'supergloo.solo.io/managed-by': 'supergloo',
      'supergloo.solo.io/owner': 'cluster/mesh-system/store',
      'supergloo.solo.io/hash': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(fake.state(MESH)).toMatchObject({ 'virtualNode a': ROUTED[0]!.spec, 'route r/r-0': ROUTED[3]!.spec });
  });

  test('removes nothing until the desired state has settled', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    const before = fake.state(MESH);
    expect(await write([...PLAIN, node('c')], { isUnsettled: true })).toMatchObject({ isWaiting: true, problems: [] });
    expect(Object.keys(fake.state(MESH))).toEqual(expect.arrayContaining(['virtualNode c', ...Object.keys(before)]));
    expect(await write([...PLAIN, node('c')])).toMatchObject({ isWaiting: false });
    expect(Object.keys(fake.state(MESH))).not.toContain('virtualRouter r');
  });

  test('writes nothing the second time', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    fake.asked.length = 0;
    expect(await write(ROUTED)).toMatchObject({ writes: 0, problems: [] });
    expect(fake.writes).toEqual([]);
  });

  test('ignores the order of backends and listeners', async () => {
    const { write } = await start();
    await write([node('a', ['x.svc', 'y.svc'])]);
    expect(await write([node('a', ['y.svc', 'x.svc'])])).toMatchObject({ writes: 0 });
  });

  test('writes only what differs, and updates the hash in its tags', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    const before = fake.tagsOf('route', MESH, 'r-0', 'r');
    fake.asked.length = 0;
    await write(ROUTED.with(3, route('r', 'r-0', 'a')));
    expect(fake.writes).toEqual(['update route r-0']);
    expect(fake.tagsOf('route', MESH, 'r-0', 'r')).not.toEqual(before);
  });

  test('reverts changes by others, and recreates deleted resources', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    const expected = fake.state(MESH);
    fake.remove('virtualService', MESH, 'b.svc');
    await write(ROUTED.with(1, node('b')));
    await write(ROUTED);
    expect(fake.state(MESH)).toEqual(expected);
  });

  test('updates a service to drop its router before it deletes the routes and the router', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    fake.asked.length = 0;
    expect(await write(PLAIN)).toMatchObject({ problems: [], isUnfinished: false });
    expect(fake.writes).toEqual(['update virtualService a.svc', 'delete route r-0', 'delete virtualRouter r']);
  });

  test('recreates a route that moves to another router', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    const moved = [
      node('a', ['b.svc']),
      node('b', ['a.svc']),
      router('q'),
      route('q', 'r-0', 'b'),
      service('a', 'q'),
      service('b'),
    ];
    expect(await write(moved)).toMatchObject({ problems: [], isUnfinished: false });
    expect(Object.keys(fake.state(MESH))).toEqual(expect.arrayContaining(['route q/r-0', 'virtualRouter q']));
    expect(Object.keys(fake.state(MESH))).not.toContain('virtualRouter r');
  });

  test('deletes everything that we own when the mesh is deleted, and the mesh last', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    fake.asked.length = 0;
    expect(await write([], { isDeleting: true })).toMatchObject({ isGone: true, problems: [] });
    expect(fake.writes.at(-1)).toBe('delete mesh store');
    expect(fake.has(MESH)).toBe(false);
  });

  test('creates nothing for a mesh that is deleted before it exists', async () => {
    const { fake, write } = await start();
    expect(await write([], { isDeleting: true })).toMatchObject({ isGone: true, writes: 0 });
    expect(fake.has(MESH)).toBe(false);
  });
});

describe('a resource that we do not own', () => {
  test('is kept, also when the mesh is deleted', async () => {
    const { fake, write } = await start();
    fake.put('mesh', MESH, MESH);
    fake.put('virtualNode', MESH, 'ecs');
    fake.put('virtualService', MESH, 'ecs.svc', { provider: { virtualNode: { virtualNodeName: 'ecs' } } });
    await write(PLAIN);
    expect(await write([], { isDeleting: true })).toMatchObject({ isGone: true });
    expect(Object.keys(fake.state(MESH))).toEqual(['virtualNode ecs', 'virtualService ecs.svc']);
    expect(fake.has(MESH)).toBe(true);
  });

  test('may belong to the same Mesh of another cluster, and is reported', async () => {
    const { fake, write } = await start();
    await write([node('theirs')], {}, ownerOf('another', 'mesh-system/store'));
    await write(PLAIN);
    expect(Object.keys(fake.state(MESH))).toContain('virtualNode theirs');
    const [problem] = (await write([...PLAIN, node('theirs')])).problems;
    expect(problem).toMatchObject({ code: 'RESOURCE_FOREIGN' });
    expect(problem!.message).toContain('virtual node theirs was made for Mesh mesh-system/store of cluster another');
  });

  test('is left alone under a name that we need, unless we may adopt it', async () => {
    const { fake, write } = await start();
    fake.put('mesh', MESH, MESH);
    fake.put('virtualNode', MESH, 'a', { listeners: [] });
    const { problems } = await write(PLAIN);
    expect(problems).toEqual([expect.objectContaining({ code: 'RESOURCE_FOREIGN' })]);
    expect(fake.state(MESH)['virtualNode a']).toEqual({ listeners: [] });
    expect(await write(PLAIN, { adopt: true })).toMatchObject({ problems: [] });
    expect(fake.state(MESH)['virtualNode a']).toEqual(PLAIN[0]!.spec);
    expect(await write(PLAIN)).toMatchObject({ writes: 0, problems: [] });
  });
});

describe('guards', () => {
  test('block the removal of all or of too many resources, unless allowEmpty is set', async () => {
    const { fake, write } = await start();
    await write(PLAIN);
    const before = fake.state(MESH);
    expect((await write([])).problems).toEqual([expect.objectContaining({ code: 'DELETION_BLOCKED' })]);
    expect((await write([node('a')], { maxDeleteFraction: 0.2 })).problems).toHaveLength(1);
    expect(fake.state(MESH)).toEqual(before);
    await write([], { allowEmpty: true });
    expect(fake.state(MESH)).toEqual({});
  });
});

describe('a list with several pages', () => {
  test('is read completely', async () => {
    const { fake, write } = await start({ page: 2 });
    const nodes = Array.from({ length: 9 }, (_, i) => node(`n${i}`));
    await write(nodes);
    fake.asked.length = 0;
    expect(await write(nodes)).toMatchObject({ writes: 0 });
    expect(fake.asked.filter(({ verb, kind }) => verb === 'list' && kind === 'virtualNode')).toHaveLength(5);
  });
});

describe('syncMesh with faults', () => {
  const THROTTLED: Fault = { status: 429, type: 'TooManyRequestsException' };
  const BROKEN: Fault = { status: 500, type: 'InternalServerErrorException' };

  /** Injects a fault into every n-th request. */
  function every(n: number, fault: Fault): (asked: ApiCall) => Fault {
    let count = 0;
    return () => (++count % n === 0 ? fault : undefined);
  }

  test.each<[string, Fault]>([
    ['throttling', THROTTLED],
    ['internal server errors', BROKEN],
    ['an unavailable service', { status: 503, type: 'ServiceUnavailableException' }],
    ['closed connections', 'dead connection'],
    ['lost responses', 'lost answer'],
    ['timeouts', 'silence'],
  ])('converges to the same state with %s', async (_what, fault) => {
    const { fake, settle } = await start({ fault: every(3, fault) }, 200);
    expect(await settle(ROUTED)).toMatchObject({ problems: [], isUnfinished: false });
    const expected = await start();
    await expected.write(ROUTED);
    expect(fake.state(MESH)).toEqual(expected.fake.state(MESH));
    await settle([], { isDeleting: true });
    expect(fake.has(MESH)).toBe(false);
  });

  test('reports a write that is always throttled, and does not start later steps', async () => {
    const fault = ({ verb, kind }: ApiCall): Fault =>
      verb === 'create' && kind === 'virtualRouter' ? THROTTLED : undefined;
    const { fake, write } = await start({ fault });
    const { problems } = await write(ROUTED);
    expect(problems).toEqual([expect.objectContaining({ code: 'WRITE_REFUSED' })]);
    expect(problems[0]!.message).toContain('virtual router r could not be written: AWS: TooManyRequestsException');
    expect(fake.writes.filter((each) => each === 'create virtualRouter r')).toHaveLength(RETRY_POLICY.attempts);
    expect(fake.writes.some((each) => each.includes('route r-0'))).toBe(false);
  });

  test('makes the other writes of a step when one is refused', async () => {
    const fault = ({ verb, name }: ApiCall): Fault =>
      verb === 'create' && name === 'a' ? { status: 400, type: 'BadRequestException' } : undefined;
    const { fake, write } = await start({ fault });
    expect((await write(PLAIN)).problems[0]!.message).toContain('virtual node a');
    expect(Object.keys(fake.state(MESH))).toEqual(['virtualNode b']);
  });

  test('looks again when somebody else creates the same resource at the same time', async () => {
    const { fake, write } = await start();
    fake.options = {
      fault: ({ verb, name }) => {
        if (verb === 'create' && name === 'a') fake.put('virtualNode', MESH, 'a');
        return undefined;
      },
    };
    expect(await write([node('a')])).toMatchObject({ isUnfinished: true, problems: [] });
    fake.options = {};
    expect((await write([node('a')])).problems[0]).toMatchObject({ code: 'RESOURCE_FOREIGN' });
  });

  test('converges with lists that lag behind, without creating anything twice', async () => {
    const { fake, settle } = await start({ lag: 3 });
    expect(await settle(ROUTED)).toMatchObject({ problems: [], isUnfinished: false });
    expect(Object.keys(fake.state(MESH))).toHaveLength(ROUTED.length);
  });

  test('retries the deletion of a resource that is still in use', async () => {
    const { fake, write } = await start();
    await write(ROUTED);
    fake.put('virtualService', MESH, 'theirs.svc', { provider: { virtualRouter: { virtualRouterName: 'r' } } });
    expect(await write(PLAIN)).toMatchObject({ isUnfinished: true, problems: [] });
    fake.remove('virtualService', MESH, 'theirs.svc');
    expect(await write(PLAIN)).toMatchObject({ isUnfinished: false, problems: [] });
  });

  test('finishes the work of a process that crashed after any number of writes', async () => {
    for (let last = 0; last < 12; last++) {
      let count = 0;
      const { fake, write, settle } = await start({
        fault: ({ verb }) =>
          ['create', 'update', 'delete'].includes(verb) && ++count > last
            ? { status: 403, type: 'ForbiddenException' }
            : undefined,
      });
      await write(last % 2 === 0 ? ROUTED : PLAIN);
      fake.options = {};
      expect(await settle(PLAIN)).toMatchObject({ problems: [], isUnfinished: false });
      expect(Object.keys(fake.state(MESH)).sort()).toEqual([
        'virtualNode a',
        'virtualNode b',
        'virtualService a.svc',
        'virtualService b.svc',
      ]);
    }
  });

  test('accepts fields that AWS adds to a spec', async () => {
    const { fake, write, writeAnew } = await start({ fill: (spec) => ({ ...spec, logging: { accessLog: {} } }) });
    await write([node('a')]);
    expect(await write([node('a')])).toMatchObject({ writes: 0 });
    expect(await writeAnew([node('a')])).toMatchObject({ writes: 0 });
    expect(await writeAnew([node('a', ['b.svc'])])).toMatchObject({ writes: 1 });
    fake.put('virtualNode', MESH, 'a', { changed: true });
    expect(await write([node('a')], { adopt: true })).toMatchObject({ writes: 1 });
  });
});

test('connectAppMesh asks before each request that changes something, and does not send it after an error', async () => {
  const fake = new FakeAppMesh();
  const endpoint = await fake.start();
  running.push(fake);
  let asked = 0;
  const api = await connectAppMesh({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    endpoint,
    beforeWrite() {
      if (++asked > 1) throw new WriteForbidden('another process leads');
    },
  });
  running.push({ stop: () => api.close() });
  const target = { api, meshName: MESH, owner: OWNER, guards: GUARDS, retryPolicy: RETRY_POLICY };
  await expect(syncMesh(ROUTED, target, new Map())).rejects.toThrow(WriteForbidden);
  expect(fake.writes).toEqual(['create mesh store']);
  expect(asked).toBe(3);
});

test('connectAppMesh says which package to install if it is missing', async () => {
  const loading = connectAppMesh({ region: undefined, credentials: undefined, endpoint: undefined }, () =>
    Promise.reject(new Error('Cannot find package')),
  );
  await expect(loading).rejects.toThrow(SdkMissing);
  await expect(loading).rejects.toThrow('npm install -g @aws-sdk/client-app-mesh');
});
