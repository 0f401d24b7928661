import { describe, expect, test, vi } from 'vitest';
import { systemUser } from './context.ts';
import { create } from './verbs/create.ts';
import type { Fault } from './fault.ts';
import { serveForTests } from '../testing/serve.ts';

const { embedded, client } = await serveForTests();

const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

function map(name: string, data: Record<string, string> = {}, metadata: object = {}): object {
  return { metadata: { name, ...metadata }, data };
}

function deployment(name: string, image = 'nginx'): object {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template },
  };
}

describe('services', () => {
  test.each([
    ['address', { clusterIP: '10.96.7.7', ports: [{ port: 80 }] }, 'spec.clusterIPs'],
    ['node port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_777 }] }, 'spec.ports[0].nodePort'],
  ])('that request the same %s concurrently get it only once', async (what, spec, field) => {
    const { cluster } = embedded;
    const resource = cluster.registry.find('', 'v1', 'services')!;
    const options = { user: systemUser, dryRun: false, fieldManager: 'test', fieldValidation: 'Strict' } as const;
    const replies = await Promise.allSettled(
      ['a', 'b', 'c'].map((name) => {
        const object = { metadata: { name: `${what.slice(0, 4)}-${name}` }, spec };
        const target = { resource, namespace: 'default', name: '', subresource: '' };
        return create(cluster, target, object, { ...options, warn: () => undefined });
      }),
    );
    const refused = replies.filter((reply) => reply.status === 'rejected').map(({ reason }) => reason as Fault);
    expect(refused.map(({ code }) => code)).toEqual([422, 422]);
    expect(refused[0]?.status.details?.causes).toMatchObject([{ field }]);
  });
});

describe('create', () => {
  test('assigns a UID, and refuses an existing name', async () => {
    const first = await client.post(maps, map('one', { a: 'b' }));
    expect(first.code).toBe(201);
    expect(first.body).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { a: 'b' },
      metadata: { namespace: 'default' },
    });
    expect(first.body['metadata']!['uid']).toMatch(/^[0-9a-f-]{36}$/);
    const second = await client.post(maps, map('one'));
    expect(second.code).toBe(409);
    expect(second.body).toMatchObject({
      reason: 'AlreadyExists',
      message: 'configmaps "one" already exists',
      details: { name: 'one', kind: 'configmaps' },
    });
  });

  test('generates names', async () => {
    const { body } = await client.post(maps, { metadata: { generateName: 'made-' } });
    expect(body['metadata']!['name']).toMatch(/^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('refuses an object without a name, with an invalid name, or in a missing namespace', async () => {
    const nameless = await client.post(maps, { metadata: {} });
    expect(nameless.code).toBe(422);
    expect(nameless.body['message']).toContain('name or generateName is required');
    expect((await client.post(maps, map('Bad_Name'))).body['message']).toContain('a lowercase RFC 1123 subdomain');
    const lost = await client.post('/api/v1/namespaces/nowhere/configmaps', map('x'));
    expect([lost.code, lost.body['message']]).toEqual([404, 'namespaces "nowhere" not found']);
  });

  test('refuses or warns of unknown fields', async () => {
    const strict = await client.post(`${maps}?fieldValidation=Strict`, { ...map('strict'), other: 1 });
    expect(strict.code).toBe(400);
    expect(strict.body['message']).toContain('strict decoding error: unknown field "other"');
    const warned = await client.post(maps, { ...map('warned'), other: 1 });
    expect(warned.headers['warning']).toBe('299 - "unknown field \\"other\\""');
    expect(warned.body['other']).toBeUndefined();
  });

  test('stores nothing in a dry run', async () => {
    const { code, body } = await client.post(`${maps}?dryRun=All`, map('dry'));
    expect(code).toBe(201);
    expect(body['metadata']!['resourceVersion']).toBeUndefined();
    expect((await client.get(`${maps}/dry`)).code).toBe(404);
  });
});

describe('update', () => {
  test('refuses a stale resource version', async () => {
    const { body } = await client.post(maps, map('cas', { a: '1' }));
    const next = { ...body, data: { a: '2' } };
    expect((await client.call('PUT', `${maps}/cas`, next)).code).toBe(200);
    const late = await client.call('PUT', `${maps}/cas`, next);
    expect(late.code).toBe(409);
    expect(late.body['message']).toBe(
      'Operation cannot be fulfilled on configmaps "cas": the object has been modified; please apply your changes to the latest version and try again',
    );
  });

  test('without a change keeps the resource version', async () => {
    const { body } = await client.post(maps, map('same', { a: '1' }));
    const again = await client.call('PUT', `${maps}/same`, body);
    expect(again.body['metadata']!['resourceVersion']).toBe(body['metadata']!['resourceVersion']);
  });

  test('creates a missing object only for kinds that allow it', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
    const lease = { metadata: { name: 'put' }, spec: { holderIdentity: 'me' } };
    expect((await client.call('PUT', `${leases}/put`, lease)).code).toBe(201);
    expect((await client.call('PUT', `${leases}/put`, lease)).code).toBe(422);
    expect((await client.call('PUT', `${maps}/put`, map('put'))).code).toBe(404);
  });

  test('of the spec raises the generation, of the status does not, and neither changes the other', async () => {
    const { body } = await client.post(deployments, deployment('gen'));
    expect(body['metadata']!['generation']).toBe(1);
    const spec = { ...body['spec'], replicas: 5 };
    const scaled = await client.call('PUT', `${deployments}/gen`, { ...body, spec, status: { replicas: 9 } });
    expect(scaled.body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } });
    expect(scaled.body['status']).toEqual({});
    const status = { ...scaled.body, spec: { ...spec, replicas: 7 }, status: { replicas: 3 } };
    const observed = await client.call('PUT', `${deployments}/gen/status`, status);
    expect(observed.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 5 },
      status: { replicas: 3 },
    });
  });
});

describe('patch', () => {
  const types = {
    json: 'application/json-patch+json',
    merge: 'application/merge-patch+json',
    strategic: 'application/strategic-merge-patch+json',
    apply: 'application/apply-patch+yaml',
  };

  test('supports JSON, merge and strategic merge patches, and refuses other types', async () => {
    await client.post(deployments, deployment('patched'));
    const path = `${deployments}/patched`;
    const json = await client.call('PATCH', path, [{ op: 'replace', path: '/spec/replicas', value: 2 }], {
      type: types.json,
    });
    expect(json.body['spec']!['replicas']).toBe(2);
    const merge = await client.call('PATCH', path, { spec: { replicas: 3 } }, { type: types.merge });
    expect(merge.body['spec']!['replicas']).toBe(3);
    const side = { spec: { template: { spec: { containers: [{ name: 'side', image: 'busybox' }] } } } };
    const strategic = await client.call('PATCH', path, side, { type: types.strategic });
    const containers = strategic.body['spec']!['template']!['spec']!['containers'] as unknown as { name: string }[];
    expect(containers.map(({ name }) => name).sort()).toEqual(['main', 'side']);
    const wrong = await client.call('PATCH', path, {}, { type: 'application/json' });
    expect(wrong.code).toBe(415);
  });

  test('apply creates an object, owns its fields, and reports conflicts', async () => {
    const path = `${maps}/applied`;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } };
    const type = types.apply;
    expect((await client.call('PATCH', `${path}?fieldManager=one`, object, { type })).code).toBe(201);
    expect((await client.call('PATCH', `${path}?fieldManager=one`, object, { type })).code).toBe(200);
    const other = { ...object, data: { a: '2' } };
    const refused = await client.call('PATCH', `${path}?fieldManager=two`, other, { type });
    expect(refused.code).toBe(409);
    expect(refused.body['message']).toBe('Apply failed with 1 conflict: conflict with "one": .data.a');
    const forced = await client.call('PATCH', `${path}?fieldManager=two&force=true`, other, { type });
    expect(forced.body['data']).toEqual({ a: '2' });
    expect((await client.call('PATCH', path, object, { type })).code).toBe(422);
  });

  test('apply of an explicit default value again writes nothing', async () => {
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses/same?fieldManager=one';
    const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'same' } };
    // `globalDefault: false` is left out of the response.
    const body = { ...object, value: 5, globalDefault: false };
    const first = await client.call('PATCH', path, body, { type: types.apply });
    vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] });
    const again = await client.call('PATCH', path, body, { type: types.apply });
    vi.useRealTimers();
    expect(again.body['metadata']).toEqual(first.body['metadata']);
  });

  test('that adds unknown fields is reported as an invalid patch', async () => {
    await client.post(maps, map('odd-patch'));
    const path = `${maps}/odd-patch?fieldValidation=Strict`;
    const { code, body } = await client.call('PATCH', path, { other: 1 }, { type: types.merge });
    expect([code, body['message']]).toEqual([
      422,
      ' "" is invalid: patch: Invalid value: "{\\"other\\":1}": strict decoding error: unknown field "other"',
    ]);
  });

  test('of many concurrent writers loses no change', async () => {
    await client.post(maps, map('busy'));
    const names = Array.from({ length: 20 }, (_unused, index) => `k${index}`);
    const replies = await Promise.all(
      names.map((name) => client.call('PATCH', `${maps}/busy`, { data: { [name]: 'x' } }, { type: types.merge })),
    );
    expect(replies.map(({ code }) => code)).toEqual(names.map(() => 200));
    expect(Object.keys((await client.get(`${maps}/busy`)).body['data']!).sort()).toEqual([...names].sort());
  });
});

describe('delete', () => {
  test('removes an object without finalizers at once', async () => {
    const { body } = await client.post(maps, map('gone'));
    const reply = await client.call('DELETE', `${maps}/gone`);
    expect(reply.body).toMatchObject({ kind: 'Status', status: 'Success', details: { uid: body['metadata']!['uid'] } });
    expect((await client.get(`${maps}/gone`)).body['message']).toBe('configmaps "gone" not found');
  });

  test('waits for finalizers', async () => {
    await client.post(maps, map('held', {}, { finalizers: ['example.com/hold'] }));
    const marked = await client.call('DELETE', `${maps}/held`);
    expect(marked.body['metadata']!['deletionTimestamp']).toBeDefined();
    const added = {
      ...marked.body,
      metadata: { ...marked.body['metadata'], finalizers: ['example.com/hold', 'example.com/new'] },
    };
    const refused = await client.call('PUT', `${maps}/held`, added);
    expect(refused.body['message']).toContain('no new finalizers can be added if the object is being deleted');
    const freed = { ...marked.body, metadata: { ...marked.body['metadata'], finalizers: [] } };
    expect((await client.call('PUT', `${maps}/held`, freed)).code).toBe(200);
    expect((await client.get(`${maps}/held`)).code).toBe(404);
  });

  test('checks preconditions and records the propagation policy as a finalizer', async () => {
    await client.post(maps, map('owner'));
    const wrong = await client.call('DELETE', `${maps}/owner`, { preconditions: { uid: 'other' } });
    expect(wrong.code).toBe(409);
    const orphan = await client.call('DELETE', `${maps}/owner`, { propagationPolicy: 'Orphan' });
    expect(orphan.body['metadata']!['finalizers']).toEqual(['orphan']);
    const foreground = await client.call('DELETE', `${maps}/owner`, { propagationPolicy: 'Foreground' });
    expect(foreground.body['metadata']!['finalizers']).toEqual(['foregroundDeletion']);
  });

  test('of a collection deletes the objects that match the selector', async () => {
    await client.post(maps, map('c1', {}, { labels: { sweep: 'yes' } }));
    await client.post(maps, map('c2', {}, { labels: { sweep: 'no' } }));
    const swept = await client.call('DELETE', `${maps}?labelSelector=sweep%3Dyes`);
    expect(swept.body['items']).toHaveLength(1);
    expect((await client.get(`${maps}/c1`)).code).toBe(404);
    expect((await client.get(`${maps}/c2`)).code).toBe(200);
  });

  test('of a namespace waits for its finalizer and refuses new content', async () => {
    await client.post('/api/v1/namespaces', { metadata: { name: 'ending' } });
    const { body } = await client.call('DELETE', '/api/v1/namespaces/ending');
    expect(body['status']).toEqual({ phase: 'Terminating' });
    const refused = await client.post('/api/v1/namespaces/ending/configmaps', map('late'));
    expect(refused.code).toBe(403);
    expect(refused.body['message']).toBe(
      'configmaps "late" is forbidden: unable to create new content in namespace ending because it is being terminated',
    );
    const done = { ...body, spec: { finalizers: [] } };
    expect((await client.call('PUT', '/api/v1/namespaces/ending/finalize', done)).code).toBe(200);
    expect((await client.get('/api/v1/namespaces/ending')).code).toBe(404);
  });
});

test('events and autoscalers are converted between their API versions', async () => {
  const core = '/api/v1/namespaces/default/events';
  const involvedObject = { kind: 'Pod', name: 'p', namespace: 'default' };
  await client.post(core, { metadata: { name: 'e' }, involvedObject, reason: 'Why', message: 'text', type: 'Normal' });
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  const { body } = await client.get(`${events}/e`);
  expect(body).toMatchObject({ apiVersion: 'events.k8s.io/v1', regarding: involvedObject, note: 'text' });
  const selected = await client.get(`${core}?fieldSelector=involvedObject.name%3Dp,reason%3DWhy`);
  expect(selected.body['items']).toHaveLength(1);
  expect((await client.get(`${core}?fieldSelector=involvedObject.name%3Dq`)).body['items']).toHaveLength(0);
  const v1 = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' };
  const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 };
  expect((await client.post(v1, { metadata: { name: 'h' }, spec })).code).toBe(201);
  const v2 = await client.get(`${v1.replace('/v1/', '/v2/')}/h`);
  expect(v2.body['spec']!['metrics']).toMatchObject([
    { resource: { name: 'cpu', target: { averageUtilization: 50 } } },
  ]);
});

test('the scale subresource reads and changes the replicas', async () => {
  await client.post(deployments, deployment('scaled'));
  const path = `${deployments}/scaled/scale`;
  const { body } = await client.get(path);
  expect(body).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    spec: { replicas: 1 },
    status: { selector: 'app=scaled' },
  });
  expect((await client.call('PUT', path, { ...body, spec: { replicas: 4 } })).body['spec']).toEqual({ replicas: 4 });
  const patched = await client.call('PATCH', path, { spec: { replicas: 0 } }, { type: 'application/merge-patch+json' });
  expect(patched.body['spec']).toEqual({});
  expect((await client.call('PUT', path, { ...body, spec: { replicas: -1 } })).code).toBe(422);
  expect((await client.call('PUT', path, { ...body, spec: { replicas: 9 } })).code).toBe(409);
  expect((await client.get(`${deployments}/scaled`)).body).toMatchObject({
    spec: { replicas: 0 },
    metadata: { generation: 3 },
  });
});
