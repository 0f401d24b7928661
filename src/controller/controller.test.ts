import { afterEach, describe, expect, test } from 'vitest';
import { board, Board, copier, copy, Copy, FINALIZER, Note, template, Template } from '../../test/support/copier.ts';
import { FakeApi } from '../../test/support/fake-api.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { settled, until } from '../../test/support/until.ts';
import { ApiError } from '../kube/errors.ts';
import { defineKind } from '../kube/objects.ts';
import type { Kind, KubeObject } from '../kube/objects.ts';
import { defineTable } from '../kube/tables/tables.ts';
import { edit, own } from '../kube/write/steps.ts';
import { derive } from '../watchable/index.ts';
import { defineController, defineModel, Manager } from './index.ts';
import type { ControllerDefinition } from './index.ts';
import { createLogger } from './logger.ts';

const managers: Manager[] = [];
afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.stop()));
});

const silent = createLogger({ level: 'silent' });

async function run(api: FakeApi, controllers = [copier], logger = silent): Promise<Manager> {
  const manager = new Manager({ client: api, controllers, logger });
  managers.push(manager);
  await manager.start();
  return manager;
}

function notes(api: FakeApi): Record<string, string> {
  return Object.fromEntries([...api.all(Note)].map(([key, note]) => [key, (note['spec'] as { text: string }).text]));
}

function condition(api: FakeApi, key: string, type: string): Record<string, unknown> | undefined {
  const status = api.all(Copy).get(key)?.['status'] as { conditions?: Record<string, unknown>[] } | undefined;
  return status?.conditions?.find((each) => each['type'] === type);
}

describe('a controller', () => {
  test('carries out a plan until Ready, with status, finalizer and the edit of an object of others', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Board, board());
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a'));
    await settled(manager);
    expect(notes(api)).toEqual({ 'team/a-0': 'hello', 'team/a-1': 'hello' });
    expect(api.all(Board).get('team/board')!['spec']).toEqual({ theirs: 'x', entries: ['a'] });
    const stored = api.all(Copy).get('team/a')!;
    expect(stored.metadata.finalizers).toEqual([FINALIZER]);
    expect(stored['status']).toEqual({
      notes: 2,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Copied',
          message: '2 notes',
          observedGeneration: 1,
          lastTransitionTime: expect.stringMatching(/^\d{4}-.*\dZ$/),
        },
      ],
    });
  });

  test('reconciles objects that existed before the start', async () => {
    const api = new FakeApi();
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a', { count: 1 }));
    await settled(await run(api));
    expect(notes(api)).toEqual({ 'team/a-0': 'hello' });
  });

  test('notices a missing object when it is created, and follows its changes', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Copy, copy('a', { count: 1 }));
    await settled(manager);
    expect(condition(api, 'team/a', 'Ready')).toMatchObject({ status: 'False', reason: 'NoTemplate' });
    await api.create(Template, template('text', 'one'));
    await settled(manager);
    expect(notes(api)).toEqual({ 'team/a-0': 'one' });
    await api.patch(Template, { name: 'text', namespace: 'team' }, { type: 'merge', body: { spec: { text: 'two' } } });
    await settled(manager);
    expect(notes(api)).toEqual({ 'team/a-0': 'two' });
  });

  test('reverts drift of fields that it owns, and keeps fields of others', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a', { count: 1 }));
    await settled(manager);
    const patch = {
      type: 'merge' as const,
      body: { spec: { text: 'drifted' }, metadata: { labels: { theirs: 'stays' } } },
    };
    await api.patch(Note, { name: 'a-0', namespace: 'team' }, patch);
    await settled(manager);
    expect(notes(api)).toEqual({ 'team/a-0': 'hello' });
    expect(api.all(Note).get('team/a-0')!.metadata.labels).toMatchObject({ theirs: 'stays' });
    await api.delete(Note, { name: 'a-0', namespace: 'team' });
    await settled(manager);
    expect(notes(api)).toEqual({ 'team/a-0': 'hello' });
  });

  test('restores an object that its plan owns, although the plan never reads it', async () => {
    const api = new FakeApi();
    const manager = await run(api, [
      defineController<Copy>({
        name: 'blind',
        kind: Copy,
        plan: (_view, { metadata: { name } }) => ({ steps: [own(Template, template(name, 'made'))] }),
      }),
    ]);
    await api.create(Copy, copy('a'));
    await settled(manager);
    await api.delete(Template, { name: 'a', namespace: 'team' });
    await settled(manager);
    expect([...api.all(Template).keys()]).toEqual(['team/a']);
  });

  test('writes nothing for a plan that read a table that is not synced, and plans again once it is', async () => {
    const api = new FakeApi();
    const clock = new FakeClock();
    let plans = 0;
    const definition = defineController<Copy>({
      name: 'cautious',
      kind: Copy,
      plan: (view) => {
        plans++;
        const found = view.get(Template, { name: 'text', namespace: 'team' });
        return { steps: found ? [] : [own(Board, board())], status: { found: found !== undefined } };
      },
    });
    const logger = createLogger({ level: 'silent' });
    const manager = new Manager({ client: api, controllers: [definition], clock, logger });
    managers.push(manager);
    await manager.start();
    await api.create(Template, template('text', 'hello'));
    let refuse = true;
    api.intercept = ({ verb, kind }) => {
      if (refuse && verb === 'list' && kind === 'Template')
        throw new ApiError('try later', { code: 503, reason: 'ServiceUnavailable' });
    };
    await api.create(Copy, copy('a'));
    await until(() => plans === 1);
    await clock.advance(3_000);
    expect([plans, manager.idle, api.writes.map(({ kind }) => kind)]).toEqual([1, false, ['Template', 'Copy']]);
    refuse = false;
    await clock.advance(60_000);
    await settled(manager);
    expect(api.writes.slice(2)).toMatchObject([{ kind: 'Copy', subresource: 'status' }]);
    expect(api.all(Copy).get('team/a')!['status']).toEqual({ found: true });
  });

  test('waits at the start for every table of a kind, also behind several models', async () => {
    const api = new FakeApi();
    await api.create(Copy, copy('a'));
    const tables = [1, 2, 3].map(() => defineTable<KubeObject>(Note, { transform: (note) => ({ ...note }) }));
    const counts = defineModel((facts) =>
      derive('counts', (read, _all: string) => tables.map((table) => facts(read).list(table).length)),
    );
    const sum = defineModel((facts) =>
      derive('sum', (read, all: string) => read.get(facts(read).model(counts), all)?.length),
    );
    const reader = defineController<KubeObject>({
      name: 'reader',
      kind: Copy,
      plan: (view) => ({ status: { tables: view.read.get(view.model(sum), 'all') } }),
    });
    await settled(await run(api, [reader]));
    expect(api.all(Copy).get('team/a')!['status']).toEqual({ tables: 3 });
  });

  test('cleans up after a deleted object and removes the finalizer', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Board, board());
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a'));
    await settled(manager);
    await api.delete(Copy, { name: 'a', namespace: 'team' });
    await settled(manager);
    expect(api.all(Copy).size).toBe(0);
    expect(api.all(Note).size).toBe(0);
    expect(api.all(Board).get('team/board')!['spec']).toEqual({ theirs: 'x', entries: [] });
  });
});

describe('writes', () => {
  test('record Events on the object when something changed, and not again when nothing did', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a'));
    await settled(manager);
    await api.patch(
      Copy,
      { name: 'a', namespace: 'team' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
    await settled(manager);
    await manager.stop();
    const events = [...api.all(defineKind('events.k8s.io/v1', 'Event', 'events')).values()];
    expect(events).toMatchObject([
      { type: 'Normal', reason: 'Copied', note: '2 notes', regarding: { kind: 'Copy', name: 'a' } },
    ]);
    expect(events[0]).not.toHaveProperty('series');
  });

  test('log lines like Events: when something changed, and not again', async () => {
    const api = new FakeApi();
    const lines: string[] = [];
    const teller = defineController<KubeObject>({
      name: 'teller',
      kind: Copy,
      plan: () => ({ status: { told: true }, log: [{ message: 'look at this', about: 'a' }] }),
    });
    const logger = createLogger({ level: 'warn', format: 'json', write: (line) => void lines.push(line) });
    const manager = new Manager({ client: api, controllers: [teller], logger });
    managers.push(manager);
    await manager.start();
    await api.create(Copy, copy('a'));
    await settled(manager);
    await api.patch(
      Copy,
      { name: 'a', namespace: 'team' },
      { type: 'merge', body: { metadata: { labels: { x: 'y' } } } },
    );
    await settled(manager);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { controller: 'teller', kind: 'Copy', namespace: 'team', name: 'a', about: 'a', msg: 'look at this' },
    ]);
  });

  test('do not happen when nothing differs: not after Ready, not after a restart', async () => {
    const api = new FakeApi();
    const first = await run(api);
    await api.create(Board, board());
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a'));
    await settled(first);
    const requests: string[] = [];
    api.intercept = ({ verb, kind }) => void (verb === 'list' || verb === 'watch' || requests.push(`${verb} ${kind}`));
    await api.patch(
      Template,
      { name: 'text', namespace: 'team' },
      { type: 'merge', body: { metadata: { labels: { a: 'b' } } } },
    );
    await settled(first);
    await first.stop();
    await settled(await run(api));
    expect(requests).toEqual(['patch Template']);
  });

  test('do not undo a status that somebody else wrote during the reconcile', async () => {
    const api = new FakeApi();
    const ref = { name: 'a', namespace: 'team' };
    let told: Promise<unknown> | undefined;
    api.intercept = ({ verb, kind }) => {
      if (verb !== 'apply' || kind !== 'Template') return;
      const patch = { type: 'merge', body: { status: { notes: 7 } } } as const;
      told ??= api.patch(Copy, ref, patch, { subresource: 'status' });
    };
    const manager = await run(api, [
      defineController<Copy>({
        name: 'counting',
        kind: Copy,
        // Two writes, so that there is time to receive the event of the other one in between.
        plan: (_view, { status }) => ({
          steps: ['one', 'two'].map((name) => own(Template, template(name, 'made'))),
          status: { notes: status?.notes ?? 1 },
        }),
      }),
    ]);
    await api.create(Copy, copy('a'));
    await settled(manager);
    await told;
    expect(api.all(Copy).get('team/a')!['status']).toMatchObject({ notes: 7 });
  });

  test('are planned again from the current state after a conflict', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Board, board());
    await api.create(Template, template('text', 'hello'));
    let interfered = false;
    api.intercept = ({ verb, kind }) => {
      if (interfered || verb !== 'patch' || kind !== 'Board') return;
      interfered = true;
      throw new ApiError('the object has been modified', { code: 409, reason: 'Conflict' });
    };
    await api.create(Copy, copy('a'));
    await settled(manager);
    expect(interfered).toBe(true);
    expect(api.all(Board).get('team/board')!['spec']).toEqual({ theirs: 'x', entries: ['a'] });
  });
});

/** Fails until its template exists. */
const picky = defineController<Copy>({
  name: 'picky',
  kind: Copy,
  plan: (view) => {
    const found = view.get(Template, { name: 'text', namespace: 'team' });
    if (found === undefined) throw new Error('there is no template');
    return { status: { text: found.spec?.text } };
  },
});

describe('failures', () => {
  test('of a plan set a condition, which is removed with the cause; other objects are not affected', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('bad', { broken: true, count: 1 }));
    await api.create(Copy, copy('good', { count: 1 }));
    await until(() => condition(api, 'team/bad', 'Stalled') !== undefined && notes(api)['team/good-0'] === 'hello');
    expect(condition(api, 'team/bad', 'Stalled')).toMatchObject({
      status: 'True',
      reason: 'PlanFailed',
      message: 'spec.broken: is true: take it away',
      observedGeneration: 1,
    });
    await api.patch(Copy, { name: 'bad', namespace: 'team' }, { type: 'merge', body: { spec: { broken: null } } });
    await until(() => condition(api, 'team/bad', 'Ready')?.['status'] === 'True');
    expect(condition(api, 'team/bad', 'Stalled')).toBeUndefined();
    expect(await manager.metrics.text()).toMatch(
      /controller_runtime_reconcile_panics_total\{controller="copier"\} [1-9]/,
    );
  });

  test('make the key back off instead of spinning on its own status', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Copy, copy('bad', { broken: true }));
    const told = (): boolean => api.writes.some(({ kind }) => kind === 'Event');
    await until(() => condition(api, 'team/bad', 'Stalled') !== undefined && told());
    const before = api.writes.length;
    const reconciles = async (): Promise<number> =>
      Number(/reconcile_total\{controller="copier",result="error"\} (\d+)/.exec(await manager.metrics.text())![1]);
    const first = await reconciles();
    await until(async () => (await reconciles()) > first);
    expect(api.writes.length).toBe(before);
  });

  test.each(['before the answer', 'after it'])(
    'do not delay changes that arrive while they are written: the event of the write arrives %s',
    async (order) => {
      const api = new FakeApi();
      const clock = new FakeClock();
      const manager = new Manager({
        client: api,
        controllers: [picky],
        clock,
        logger: createLogger({ level: 'silent' }),
      });
      managers.push(manager);
      await manager.start();
      const patch = api.patch.bind(api);
      let reported = 0;
      api.patch = async (kind, ref, body, options) => {
        if (options?.subresource !== 'status' || reported++ > 0) return patch(kind, ref, body, options);
        const isFirst = order === 'before the answer';
        const answer = isFirst ? await patch(kind, ref, body, options) : undefined;
        await api.create(Template, template('text', 'hello'));
        await until(() => manager.tables.of(Template).size === 1);
        return answer ?? patch(kind, ref, body, options);
      };
      await api.create(Copy, copy('a'));
      // The clock stands still, so no retry happens by itself.
      await until(() => (api.all(Copy).get('team/a')!['status'] as { text?: string } | undefined)?.text === 'hello');
      await settled(manager);
      expect(reported).toBe(2);
    },
  );

  test.each([
    ['Board', 'team/board', 'ApplyFailed'],
    ['Copy', 'team/a', undefined],
  ])('by endless conflicts over a %s are reported', async (fought, key, stalled) => {
    const api = new FakeApi();
    const clock = new FakeClock();
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', format: 'json', write: (line) => void lines.push(line) });
    const manager = new Manager({ client: api, controllers: [copier], clock, logger });
    managers.push(manager);
    await manager.start();
    await api.create(Board, board());
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a', { count: 1 }));
    let tries = 0;
    api.intercept = ({ verb, kind, subresource }) => {
      if (verb !== 'patch' || kind !== fought || (kind === 'Copy' && subresource === undefined)) return;
      tries++;
      throw new ApiError('the object has been modified', { code: 409, reason: 'Conflict' });
    };
    for (let second = 0; second < 4; second++) await clock.advance(1_000);
    expect([tries > 5, lines]).toEqual([true, []]);
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    const message = `${fought} ${key} changed since it was read, every time: another program keeps writing to it`;
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ msg: 'reconcile failed', namespace: 'team', name: 'a' }),
    );
    expect(condition(api, 'team/a', 'Stalled')?.['reason']).toBe(stalled);
    const events = [...api.all(defineKind('events.k8s.io/v1', 'Event', 'events')).values()];
    expect(events.filter((event) => event['type'] === 'Warning')).toMatchObject([{ note: message }]);
    api.intercept = () => {};
    await clock.advance(15_000);
    await until(() => condition(api, 'team/a', 'Ready')?.['status'] === 'True');
    expect(condition(api, 'team/a', 'Stalled')).toBeUndefined();
  });

  test('are reported only by Events if the controller does not own the status', async () => {
    const api = new FakeApi();
    let tries = 0;
    const second = {
      ...copier,
      name: 'second',
      finalizers: [],
      ownsStatus: false,
      plan: () => {
        tries++;
        throw new Error('no such luck');
      },
    };
    const manager = await run(api, [second]);
    await api.create(Copy, copy('a'));
    await until(() => tries >= 2);
    expect(api.writes.filter(({ kind }) => kind === 'Copy').map(({ verb }) => verb)).toEqual(['create']);
    await manager.stop();
  });

  test("of a refused write are reported on the object, with the server's message", async () => {
    const api = new FakeApi();
    await run(api);
    await api.create(Template, template('text', 'hello'));
    api.intercept = ({ verb, kind }) => {
      if (verb === 'apply' && kind === 'Note')
        throw new ApiError('notes is forbidden: no', { code: 403, reason: 'Forbidden' });
    };
    await api.create(Copy, copy('a', { count: 1 }));
    await until(() => condition(api, 'team/a', 'Stalled') !== undefined);
    expect(condition(api, 'team/a', 'Stalled')).toMatchObject({
      reason: 'ApplyFailed',
      message: 'own Note team/a-0: notes is forbidden: no',
    });
    api.intercept = () => {};
    await until(() => condition(api, 'team/a', 'Ready')?.['status'] === 'True');
    expect(condition(api, 'team/a', 'Stalled')).toBeUndefined();
  });

  test('of the removal of finalizers stay in the status until that succeeds', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, { ...copy('a'), metadata: { ...copy('a').metadata, finalizers: ['theirs.dev/last'] } });
    await settled(manager);
    const statuses = (): number => api.writes.filter(({ subresource }) => subresource === 'status').length;
    const before = statuses();
    let tries = 0;
    api.intercept = ({ verb, kind, subresource }) => {
      if (verb !== 'patch' || kind !== 'Copy' || subresource !== undefined) return;
      tries++;
      throw new ApiError('no', { code: 403, reason: 'Forbidden' });
    };
    await api.delete(Copy, { name: 'a', namespace: 'team' });
    await until(() => tries >= 4 && condition(api, 'team/a', 'Stalled') !== undefined);
    expect(statuses() - before).toBe(1);
    api.intercept = () => {};
    await until(() => condition(api, 'team/a', 'Stalled') === undefined);
    expect(api.all(Copy).get('team/a')!.metadata.finalizers).toEqual(['theirs.dev/last']);
  });

  test('of the removal of the last finalizers are not taken back in the status: the object is gone', async () => {
    const api = new FakeApi();
    const manager = await run(api);
    await api.create(Template, template('text', 'hello'));
    await api.create(Copy, copy('a'));
    await settled(manager);
    let isRefused = true;
    const requests: string[] = [];
    api.intercept = ({ verb, kind, subresource }) => {
      if (verb !== 'patch' || kind !== 'Copy') return;
      if (subresource === undefined && isRefused) throw new ApiError('no', { code: 403, reason: 'Forbidden' });
      if (!isRefused) requests.push(subresource ?? 'object');
    };
    await api.delete(Copy, { name: 'a', namespace: 'team' });
    await until(() => condition(api, 'team/a', 'Stalled') !== undefined);
    isRefused = false;
    await until(() => api.all(Copy).size === 0);
    await settled(manager);
    expect(requests).toEqual(['object']);
  });

  test('of a refused write stop only what the plan makes depend on it, and are retried with backoff', async () => {
    const api = new FakeApi();
    const patient = defineController<Copy>({
      name: 'patient',
      kind: Copy,
      plan: (view, { metadata: { name } }) => {
        const wanted = ['0', '1', '2'].map((i) => ({ name: `${name}-${i}`, namespace: 'team' }));
        const refusals = wanted.map((ref) => view.refusal(Note, ref)).filter((text) => text !== undefined);
        const steps = wanted
          .filter((ref) => view.refusal(Note, ref) === undefined)
          .map((metadata) => own(Note, { apiVersion: 'example.dev/v1', kind: 'Note', metadata, spec: { text: 'x' } }));
        return { steps, status: { refusals } };
      },
    });
    const tries: string[] = [];
    const refuse = ({ verb, kind, key }: { verb: string; kind: string; key: string }): void => {
      if (verb !== 'apply' || kind !== 'Note' || key.endsWith('-2')) return;
      tries.push(key);
      throw new ApiError('PATCH: no', { code: 403, reason: 'Forbidden', status: { message: `no ${key}` } });
    };
    api.intercept = refuse;
    const lines: string[] = [];
    const logger = createLogger({ level: 'warn', format: 'json', write: (line) => void lines.push(line) });
    const manager = await run(api, [patient], logger);
    await api.create(Copy, copy('a'));
    const status = (): unknown => api.all(Copy).get('team/a')?.['status'];
    await until(() => status() !== undefined && tries.length >= 6);
    expect(status()).toEqual({ refusals: ['no team/a-0', 'no team/a-1'] });
    // Each refusal is logged as a warning once.
    expect(lines.filter((line) => line.includes('write refused'))).toHaveLength(2);
    expect([...api.all(Note).keys()]).toEqual(['team/a-2']);
    expect(api.writes.map(({ verb, kind }) => `${verb} ${kind}`)).toEqual(['create Copy', 'apply Note', 'patch Copy']);
    api.intercept = () => {};
    await until(() => api.all(Note).size === 3);
    await settled(manager);
    expect(status()).toEqual({ refusals: [] });
  });

  test('of a refused write are reported in the status of the kind, in addition to the condition Stalled', async () => {
    const api = new FakeApi();
    const failures: unknown[] = [];
    const worded: ControllerDefinition = {
      ...copier,
      failed: (object, { step, cause, reason }) => {
        failures.push([step?.do, step?.kind.kind, reason]);
        const conditions = [
          { type: 'Ready', status: 'False', reason: 'Unable', message: `no note: ${cause}` },
        ] as const;
        const metadata = { ...object.metadata, annotations: { refused: 'true' } };
        return {
          status: { conditions },
          steps: [edit(Copy as unknown as Kind<KubeObject>, object, { ...object, metadata })],
        };
      },
    };
    await run(api, [worded]);
    await api.create(Template, template('text', 'hello'));
    api.intercept = ({ verb, kind }) => {
      if (verb === 'apply' && kind === 'Note') throw new ApiError('no', { code: 403, reason: 'Forbidden' });
    };
    await api.create(Copy, copy('a', { count: 1 }));
    await until(() => condition(api, 'team/a', 'Stalled') !== undefined);
    expect(failures[0]).toEqual(['own', 'Note', 'ApplyFailed']);
    expect(condition(api, 'team/a', 'Ready')).toMatchObject({ status: 'False', message: 'no note: no' });
    expect(condition(api, 'team/a', 'Stalled')).toMatchObject({ message: 'own Note team/a-0: no' });
    expect(api.all(Copy).get('team/a')!.metadata.annotations).toEqual({ refused: 'true' });
  });

  test('by a server error are retried with backoff, and not written to the status', async () => {
    const api = new FakeApi();
    await run(api);
    await api.create(Template, template('text', 'hello'));
    let failures = 0;
    api.intercept = ({ verb }) => {
      if (verb === 'apply' && ++failures < 4)
        throw new ApiError('try later', { code: 503, reason: 'ServiceUnavailable' });
    };
    await api.create(Copy, copy('a', { count: 1 }));
    await until(() => condition(api, 'team/a', 'Ready')?.['status'] === 'True');
    expect(api.writes.filter((write) => write.subresource === 'status').length).toBeLessThanOrEqual(2);
  });
});
