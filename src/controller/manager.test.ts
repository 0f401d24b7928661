import { afterEach, describe, expect, test } from 'vitest';
import { copier, copy, Copy, Note, template, Template } from '../../test/support/copier.ts';
import { FakeApi } from '../../test/support/fake-api.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { settled, until } from '../../test/support/until.ts';
import { ApiError } from '../kube/errors.ts';
import { Lease } from '../kube/lease.ts';
import { defineController, LeadershipLost, Manager, statusOf } from './index.ts';
import type { ManagerOptions, TableGauge } from './index.ts';
import { createLogger } from './logger.ts';

const managers: Manager[] = [];
afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.stop()));
});

function make(options: Partial<ManagerOptions> & { client: FakeApi }): Manager {
  const manager = new Manager({ controllers: [copier], logger: createLogger({ level: 'silent' }), ...options });
  managers.push(manager);
  return manager;
}

async function world(): Promise<FakeApi> {
  const api = new FakeApi();
  await api.create(Template, template('text', 'hello'));
  await api.create(Copy, copy('a', { count: 1 }));
  return api;
}

describe('start', () => {
  test('writes nothing before everything that the first plans read is synced', async () => {
    const api = await world();
    let refuse = true;
    api.intercept = ({ verb, kind }) => {
      if (refuse && verb === 'list' && kind === 'Template')
        throw new ApiError('not yet', { code: 503, reason: 'ServiceUnavailable' });
    };
    const clock = new FakeClock();
    const manager = make({ client: api, clock, probes: { port: 0 } });
    const starting = manager.start();
    await until(() => manager.probesUrl !== undefined);
    await clock.advance(2_000);
    const ready = await fetch(`${manager.probesUrl}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([
      500,
      '[+]ping ok\n[-]tables failed: waiting for Template\n[+]stopping ok\n',
    ]);
    expect(api.writes.map(({ kind }) => kind)).toEqual(['Template', 'Copy']);
    refuse = false;
    await clock.advance(60_000);
    await starting;
    await settled(manager);
    expect(api.all(Note).size).toBe(1);
    expect((await fetch(`${manager.probesUrl}/readyz`)).status).toBe(200);
  });

  test('logs a kind that the cluster does not serve: its controller waits', async () => {
    const api = await world();
    api.intercept = ({ kind }) => {
      if (kind === 'Copy') throw new ApiError('no such path', { code: 404, reason: 'NotFound' });
    };
    api.raw = () => Promise.resolve({ kind: 'APIGroupList', groups: [] } as never);
    const written: string[] = [];
    const logger = createLogger({ format: 'json', write: (line) => written.push(line) });
    await make({ client: api, logger }).start();
    expect(written.map((line) => JSON.parse(line) as object)).toMatchObject([
      { kind: 'Copy', msg: 'the cluster does not serve this kind: waiting for its definition' },
    ]);
  });

  test('fails when it is called twice', async () => {
    const manager = make({ client: await world() });
    await manager.start();
    await expect(manager.start()).rejects.toThrow('the manager can be started once; it is running');
  });
});

test('gauges are computed at each scrape, and metrics can be served apart from the probes', async () => {
  const api = await world();
  const gauge: TableGauge = {
    name: 'copies',
    help: 'Copies by namespace',
    labels: ['namespace'],
    series: (facts) => [{ labels: { namespace: 'default' }, value: facts.keys(Copy).length }],
  };
  const manager = make({
    client: api,
    controllers: [{ ...copier, gauges: [gauge] }],
    probes: { port: 0 },
    metricsAddress: { port: 0 },
  });
  await manager.start();
  const scraped = async (): Promise<string> => (await fetch(`${manager.metricsUrl}/metrics`)).text();
  expect(await scraped()).toContain('copies{namespace="default"} 1');
  await api.create(Copy, copy('b', { count: 1 }));
  await until(async () => (await scraped()).includes('copies{namespace="default"} 2'));
  const onProbes = await fetch(`${manager.probesUrl}/metrics`);
  expect([onProbes.status, await onProbes.text()]).toEqual([404, 'not found: try /healthz or /readyz\n']);
  expect((await fetch(`${manager.metricsUrl}/readyz`)).status).toBe(404);
});

test('writes, and the counters and timings of a definition, are reported', async () => {
  const api = await world();
  const manager = make({
    client: api,
    controllers: [
      {
        ...copier,
        counters: [
          {
            name: 'notes_total',
            help: 'Notes that were created',
            labels: ['name'],
            labelsOf: ({ did, step, object }) =>
              did === 'created' && step.kind.kind === 'Note' ? { name: object!.metadata.name } : undefined,
          },
        ],
        timings: [
          {
            name: 'first_status_seconds',
            help: 'Time until there is a status',
            labels: [],
            buckets: [1, 10],
            measure: (before, after) =>
              Object.keys(statusOf(before)).length === 0 && Object.keys(statusOf(after)).length > 0
                ? { labels: {}, value: 2 }
                : undefined,
          },
        ],
      },
    ],
  });
  await manager.start();
  await settled(manager);
  const text = await manager.metrics.text();
  const [note] = api.all(Note).values();
  expect(text).toContain(
    `offshoot_writes_total{controller="${copier.name}",group="${Note.group}",kind="Note",did="created"} 1`,
  );
  expect(text).toContain(`notes_total{name="${note!.metadata.name}"} 1`);
  expect(text).toContain('first_status_seconds_bucket{le="10"} 1');
  expect(text).toContain('first_status_seconds_count 1');
});

describe('stop', () => {
  test('ends a start that is still waiting', async () => {
    const api = new FakeApi();
    api.intercept = () => {
      throw new ApiError('gone', { code: 0, reason: 'ConnectionRefused' });
    };
    const manager = make({ client: api });
    const starting = manager.start();
    await manager.stop();
    await starting;
    await expect(manager.done).resolves.toBeUndefined();
  });

  test('lets a running reconcile finish, and starts no further one', async () => {
    const api = await world();
    const gate = Promise.withResolvers<void>();
    const patch = api.patch.bind(api);
    let entered = false;
    api.patch = async (...args) => {
      entered = true;
      await gate.promise;
      return patch(...args);
    };
    const manager = make({ client: api });
    await manager.start();
    await until(() => entered);
    const stopping = manager.stop();
    gate.resolve();
    await stopping;
    const { length } = api.writes;
    await api.patch(Template, { name: 'text', namespace: 'team' }, { type: 'merge', body: { spec: { text: 'new' } } });
    expect(api.writes.length).toBe(length + 1);
  });

  test('aborts a reconcile that takes longer than the deadline', async () => {
    const api = await world();
    const clock = new FakeClock();
    let hangs = false;
    api.patch = (_kind, _ref, _patch, options) =>
      new Promise((_resolve, reject) => {
        hangs = true;
        options?.signal?.addEventListener('abort', () => reject(options.signal!.reason as Error));
      });
    const manager = make({ client: api, clock, stopWithinMs: 5_000 });
    await manager.start();
    await until(() => hangs);
    let stopped = false;
    const stopping = manager.stop().then(() => (stopped = true));
    await clock.advance(4_999);
    expect(stopped).toBe(false);
    await clock.advance(1);
    await stopping;
  });
});

describe('leader election', () => {
  const lease = { namespace: 'kube-system', name: 'offshoot' };

  test('makes controllers wait only for their own lease: the others work, and the process is ready', async () => {
    const api = await world();
    const held = { namespace: 'kube-system', name: 'of-notes' };
    const spec = { holderIdentity: 'the original', leaseDurationSeconds: 3600 };
    await api.create(Lease, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: held, spec });
    const clock = new FakeClock();
    const labelled: string[] = [];
    const labeller = defineController<Template>({
      name: 'labeller',
      kind: Template,
      lease: 'of-templates',
      plan: (_view, { metadata }) => {
        labelled.push(metadata.name);
        return {};
      },
    });
    const lines: string[] = [];
    const manager = make({
      client: api,
      clock,
      controllers: [{ ...copier, lease: 'of-notes' }, labeller],
      leaderElection: { namespace: 'kube-system' },
      probes: { port: 0 },
      logger: createLogger({ format: 'json', write: (line) => void lines.push(line) }),
    });
    await manager.start();
    await until(() => labelled.length > 0 && lines.some((line) => line.includes('waiting')));
    const metric = async (name: string): Promise<string | undefined> =>
      new RegExp(`leader_election_master_status\\{name="${name}"\\} (\\d)`).exec(await manager.metrics.text())?.[1];
    expect([await metric('of-templates'), await metric('of-notes')]).toEqual(['1', '0']);
    expect((await fetch(`${manager.probesUrl}/readyz`)).status).toBe(200);
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ lease: 'of-templates', controllers: ['labeller'], msg: 'leading' }),
        expect.objectContaining({
          lease: 'of-notes',
          controllers: ['copier'],
          holder: 'the original',
          msg: 'another process holds the lease: waiting',
        }),
      ]),
    );
    expect([api.all(Note).size, manager.idle]).toEqual([0, false]);

    await api.patch(Lease, held, { type: 'merge', body: { spec: { holderIdentity: '' } } });
    await clock.advance(5_000);
    await until(() => manager.idle && api.all(Note).size === 1);
    expect(await metric('of-notes')).toBe('1');
    await manager.stop();
    expect([...api.all(Lease).values()].map((each) => (each['spec'] as Lease['spec'])!.holderIdentity)).toEqual([
      '',
      '',
    ]);
  });

  test('releases the lease at once on standDown; /readyz fails, and the tables stay current for webhooks', async () => {
    const api = await world();
    const manager = make({ client: api, leaderElection: lease, probes: { port: 0 } });
    await manager.start();
    await until(() => manager.idle && api.all(Note).size === 1);
    await manager.standDown();
    expect((api.all(Lease).get('kube-system/offshoot')!['spec'] as Lease['spec'])!.holderIdentity).toBe('');
    const ready = await fetch(`${manager.probesUrl}/readyz?verbose`);
    expect([ready.status, await ready.text()]).toEqual([
      500,
      '[+]ping ok\n[+]tables ok\n[-]stopping failed: the process is stopping\n',
    ]);
    expect((await fetch(`${manager.probesUrl}/healthz`)).status).toBe(200);
    await api.create(Template, template('late', 'hello'));
    await until(() => manager.tables.of(Template).get('team/late') !== undefined);
  });

  test('has one leader of two processes; when it stops, the other takes over', async () => {
    const api = await world();
    const first = make({ client: api, leaderElection: { ...lease, identity: 'first' } });
    await first.start();
    await until(() => first.idle && api.all(Note).size === 1);
    const clock = new FakeClock();
    const second = make({ client: api, clock, leaderElection: { ...lease, identity: 'second' } });
    await second.start();
    expect(second.idle).toBe(false);
    await first.stop();
    await api.patch(Template, { name: 'text', namespace: 'team' }, { type: 'merge', body: { spec: { text: 'new' } } });
    expect((api.all(Note).get('team/a-0')!['spec'] as { text: string }).text).toBe('hello');
    await clock.advance(5_000);
    await until(() => (api.all(Note).get('team/a-0')!['spec'] as { text: string }).text === 'new');
  });

  test('makes a write that was held back by a late renewal once that succeeds', async () => {
    const api = await world();
    const clock = new FakeClock();
    const manager = make({ client: api, clock, leaderElection: lease });
    await manager.start();
    await until(() => manager.idle && api.all(Note).size === 1);
    const gate = Promise.withResolvers<void>();
    const update = api.update.bind(api);
    api.update = async (...args) => {
      await gate.promise;
      return update(...args);
    };
    await clock.advance(2_000);
    // After the deadline of the last renewal, while the next one is in flight.
    clock.stall(8_500);
    await api.patch(Template, { name: 'text', namespace: 'team' }, { type: 'merge', body: { spec: { text: 'new' } } });
    await until(async () => /result="requeue"\} [1-9]/.test(await manager.metrics.text()));
    expect(api.all(Note).get('team/a-0')!['spec']).toEqual({ text: 'hello' });
    gate.resolve();
    await clock.advance(100);
    await until(() => (api.all(Note).get('team/a-0')!['spec'] as { text: string }).text === 'new');
  });

  test('writes nothing after the lease is lost, and ends the process', async () => {
    const api = await world();
    const clock = new FakeClock();
    const manager = make({ client: api, clock, leaderElection: lease });
    await manager.start();
    await until(() => manager.idle && api.all(Note).size === 1);
    const ended = manager.done.catch((error: unknown) => error);
    let cut = true;
    api.intercept = ({ kind }) => {
      if (cut && kind === 'Lease') throw new ApiError('no route', { code: 0, reason: 'Timeout' });
    };
    await clock.advance(10_001);
    cut = false;
    const { length } = api.writes;
    await api.patch(Template, { name: 'text', namespace: 'team' }, { type: 'merge', body: { spec: { text: 'new' } } });
    expect(await ended).toBeInstanceOf(LeadershipLost);
    expect(api.writes.slice(length + 1).filter(({ kind }) => kind !== 'Event')).toEqual([]);
  });
});

test('metrics have the names that dashboards know', async () => {
  const manager = make({ client: await world(), probes: { port: 0 } });
  await manager.start();
  await settled(manager);
  manager.metrics.request({ method: 'GET', code: 200, host: 'localhost:6443', durationMs: 5 });
  const text = await (await fetch(`${manager.probesUrl}/metrics`)).text();
  for (const line of [
    /^controller_runtime_reconcile_total\{controller="copier",result="success"\} [1-9]/m,
    /^controller_runtime_reconcile_total\{controller="copier",result="error"\} 0$/m,
    /^controller_runtime_reconcile_time_seconds_bucket\{le="0.005",controller="copier"\} \d/m,
    /^controller_runtime_active_workers\{controller="copier"\} 0$/m,
    /^controller_runtime_max_concurrent_reconciles\{controller="copier"\} 4$/m,
    /^workqueue_depth\{name="copier",controller="copier"\} 0$/m,
    /^workqueue_adds_total\{name="copier",controller="copier"\} [1-9]/m,
    /^workqueue_retries_total\{name="copier",controller="copier"\} 0$/m,
    /^rest_client_requests_total\{code="200",method="GET",host="localhost:6443"\} 1$/m,
    /^leader_election_master_status\{name="offshoot"\} 1$/m,
    /^offshoot_table_objects\{group="test.dev",kind="Note"\} 1$/m,
    /^offshoot_table_synced\{group="test.dev",kind="Copy"\} 1$/m,
  ]) {
    expect(text).toMatch(line);
  }
});
