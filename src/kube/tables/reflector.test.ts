import { describe, expect, it } from 'vitest';
import { apiError, FakeClient } from '../../../test/support/fake-client.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import type { ListOptions, WatchOptions } from '../client/client.ts';
import { defineKind } from '../objects.ts';
import type { KubeObject } from '../objects.ts';
import { nextState, runReflector } from './reflector.ts';
import type { ReflectorOptions, ReflectorState } from './reflector.ts';
import { Table } from './table.ts';
import type { TableOptions } from './table.ts';

interface Thing extends KubeObject {
  readonly spec?: { readonly size: number };
}
const Thing = defineKind<Thing>('test.dev/v1', 'Thing', 'things');

const thing = (name: string, labels?: Record<string, string>): Thing => ({
  apiVersion: 'test.dev/v1',
  kind: 'Thing',
  metadata: { name, namespace: 'a', labels },
});

function start(options: Partial<ReflectorOptions<Thing>> & { scope?: TableOptions<Thing> } = {}) {
  const { scope, ...rest } = options;
  const client = new FakeClient();
  const clock = new FakeClock();
  const table = new Table<Thing>(Thing, scope);
  const abort = new AbortController();
  const states: ReflectorState[] = [];
  const errors: unknown[] = [];
  const run = (): Promise<void> =>
    runReflector({
      client,
      table,
      clock,
      signal: abort.signal,
      random: () => 0,
      onState: (state) => states.push(state),
      onError: (error) => errors.push(error),
      ...rest,
    });
  const done = (async () => {
    await settle();
    await run();
  })();
  const stop = async (): Promise<void> => {
    abort.abort();
    await done;
  };
  const names = (): string[] => table.list().map((each) => each.metadata.name);
  const count = (method: string): number => client.requests.filter((request) => request.method === method).length;
  const lastWatch = () => client.requests.findLast((request) => request.method === 'watch')!.options as WatchOptions;
  return { client, clock, table, states, errors, stop, done, names, count, lastWatch };
}

/** Lets the reflector list and open its watch. */
const running = async (r: ReturnType<typeof start>): Promise<void> => {
  await r.clock.advance(0);
  await settle();
};

describe('runReflector', () => {
  it('lists, then follows the watch from the version of the list', async () => {
    const r = start();
    await r.client.create(Thing, thing('x'));
    await running(r);
    expect([r.names(), r.table.synced]).toEqual([['x'], true]);
    await r.client.create(Thing, thing('y'));
    await r.client.patch(Thing, { name: 'x', namespace: 'a' }, { type: 'merge', body: { spec: { size: 3 } } });
    expect(r.names()).toEqual(['x', 'y']);
    expect(r.table.get('a/x')).toMatchObject({ spec: { size: 3 } });
    await r.client.delete(Thing, { name: 'x', namespace: 'a' });
    expect(r.names()).toEqual(['y']);
    expect([r.count('list'), r.count('watch')]).toEqual([1, 1]);
    expect(r.lastWatch()).toMatchObject({ resourceVersion: '101', idleMs: 150_000 });
    await r.stop();
    expect(r.states.map((state) => state.name)).toEqual(['listing', 'watching', 'stopped']);
    expect(r.errors).toEqual([]);
    expect(r.clock.pending).toBe(0);
  });

  it('requests a watch of five to ten minutes, at random', async () => {
    for (const [random, seconds] of [
      [0, 290],
      [0.5, 440],
      [0.9999, 589],
    ] as const) {
      const r = start({ random: () => random });
      await running(r);
      expect(r.lastWatch().timeoutSeconds).toBe(seconds);
      await r.stop();
    }
  });

  it('sends the namespace and the selectors of the table', async () => {
    const scope = { namespace: 'a', labelSelector: 'on=yes' };
    const r = start({ scope });
    await r.client.create(Thing, thing('x', { on: 'yes' }));
    await r.client.create(Thing, thing('y'));
    await running(r);
    expect(r.names()).toEqual(['x']);
    await r.client.patch(
      Thing,
      { name: 'x', namespace: 'a' },
      { type: 'merge', body: { metadata: { labels: { on: null } } } },
    );
    await r.client.patch(
      Thing,
      { name: 'y', namespace: 'a' },
      { type: 'merge', body: { metadata: { labels: { on: 'yes' } } } },
    );
    expect(r.names()).toEqual(['y']);
    for (const request of r.client.requests.filter(({ method }) => method === 'list' || method === 'watch')) {
      expect(request.options).toMatchObject(scope);
    }
    await r.stop();
  });

  it('reads a list in pages, and shows none of it before the last page', async () => {
    const r = start({ pageSize: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await r.client.create(Thing, thing(name));
    const sizes: number[] = [];
    r.client.next('list', ...Array.from({ length: 3 }, () => () => sizes.push(r.table.size)));
    await running(r);
    expect(sizes).toEqual([0, 0, 0]);
    expect(r.names()).toEqual(['a', 'b', 'c', 'd', 'e']);
    const lists = r.client.requests
      .filter((request) => request.method === 'list')
      .map(({ options }) => options as ListOptions);
    expect(lists.map((options) => [options.limit, options.continue])).toEqual([
      [2, undefined],
      [2, '105:2'],
      [2, '105:4'],
    ]);
    await r.stop();
  });

  it('does not miss changes between two pages', async () => {
    const r = start({ pageSize: 2 });
    for (const name of ['a', 'b', 'c']) await r.client.create(Thing, thing(name));
    r.client.next(
      'list',
      () => {},
      async () => {
        await r.client.delete(Thing, { name: 'a', namespace: 'a' });
        await r.client.create(Thing, thing('z'));
      },
    );
    await running(r);
    expect(r.names()).toEqual(['b', 'c', 'z']);
    await r.stop();
  });

  it('restarts the list at once when its continue token expires', async () => {
    const r = start({ pageSize: 2 });
    for (const name of ['a', 'b', 'c']) await r.client.create(Thing, thing(name));
    r.client.next(
      'list',
      () => {},
      () => r.client.compact(),
    );
    await running(r);
    expect(r.names()).toEqual(['a', 'b', 'c']);
    expect(r.count('list')).toBe(4);
    await r.stop();
  });

  it('resumes after a normal close from the last event or bookmark, without a list', async () => {
    const r = start();
    await running(r);
    await r.client.create(Thing, thing('x'));
    await r.clock.advance(300_000);
    [...r.client.watches][0]!.close();
    await r.client.create(Thing, thing('y'));
    await settle();
    expect(r.names()).toEqual(['x', 'y']);
    expect(r.lastWatch().resourceVersion).toBe('101');
    await r.client.create(defineKind('v1', 'Pod', 'pods'), { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } });
    [...r.client.watches][0]!.bookmark();
    [...r.client.watches][0]!.close();
    await settle();
    expect(r.lastWatch().resourceVersion).toBe('103');
    expect(r.count('list')).toBe(1);
    await r.stop();
  });

  it('does not spin when every watch closes at once', async () => {
    const r = start();
    await running(r);
    for (let i = 0; i < 4; i++) {
      [...r.client.watches][0]!.close();
      await settle();
      expect(r.clock.nextIn).toBe(800 * 2 ** i);
      await r.clock.advance(800 * 2 ** i);
    }
    expect(r.count('list')).toBe(1);
    await r.stop();
  });

  it.each(['as the answer', 'inside the stream'])('lists again when the version has expired (%s)', async (how) => {
    const r = start();
    await r.client.create(Thing, thing('x'));
    await r.client.create(Thing, thing('y'));
    await running(r);
    const watch = [...r.client.watches][0]!;
    if (how === 'as the answer') {
      await r.clock.advance(300_000);
      watch.close();
      // No watch is open now, so this event is missed.
      await r.client.delete(Thing, { name: 'x', namespace: 'a' });
      r.client.compact();
    } else {
      watch.fail(apiError(410, 'Expired'));
      await r.client.delete(Thing, { name: 'x', namespace: 'a' });
    }
    await settle();
    expect(r.names()).toEqual(['y']);
    expect(r.count('list')).toBe(2);
    expect(r.errors).toEqual([]);
    await r.stop();
  });

  it('waits between lists when every watch says that its version has expired', async () => {
    const r = start();
    r.client.next('watch', ...Array.from({ length: 20 }, () => apiError(410, 'Expired')));
    await running(r);
    await r.clock.advance(10_000);
    expect(r.count('list')).toBeLessThan(8);
    await r.clock.advance(500_000);
    await r.client.create(Thing, thing('x'));
    expect(r.names()).toEqual(['x']);
    await r.stop();
  });

  it.each([
    ['a refused connection', apiError(0, 'ConnectionRefused')],
    ['a broken connection', apiError(0, 'ConnectionLost')],
    ['too many requests', apiError(429, 'TooManyRequests')],
    ['a server error', apiError(503, 'ServiceUnavailable')],
  ])('keeps its position through %s', async (_, error) => {
    const r = start();
    await r.client.create(Thing, thing('x'));
    await running(r);
    [...r.client.watches][0]!.fail(error);
    r.client.next('watch', error, error);
    await r.client.create(Thing, thing('y'));
    await r.clock.advance(800 + 1600);
    expect(r.names()).toEqual(['x']);
    await r.clock.advance(3200);
    expect(r.names()).toEqual(['x', 'y']);
    expect(r.count('list')).toBe(1);
    expect(r.errors).toEqual([error, error, error]);
    await r.stop();
  });

  it('retries at once when the server answers again after an outage, and for no other failure', async () => {
    for (const [error, isAtOnce] of [
      [apiError(0, 'ConnectionRefused'), true],
      [apiError(503, 'ServiceUnavailable'), true],
      [apiError(403, 'Forbidden'), false],
    ] as const) {
      const back = Promise.withResolvers<void>();
      const r = start({ untilReturn: () => back.promise });
      await running(r);
      [...r.client.watches][0]!.fail(error);
      await r.client.create(Thing, thing('y'));
      await settle();
      expect(r.names()).toEqual([]);
      back.resolve();
      await settle();
      expect(r.names()).toEqual(isAtOnce ? ['y'] : []);
      await r.stop();
      expect(r.clock.pending).toBe(0);
    }
  });

  it.each([
    [true, 800],
    [false, 25_600],
  ])('retries soon what fails after the server answers again: %s', async (isBack, longestMs) => {
    let back = Promise.withResolvers<void>();
    const r = start({ untilReturn: () => back.promise });
    await running(r);
    const tooMany = apiError(429, 'TooManyRequests');
    r.client.next('watch', ...Array.from({ length: 4 }, () => tooMany));
    [...r.client.watches][0]!.fail(tooMany);
    await r.clock.advance(800 + 1_600 + 3_200 + 6_400 + 12_800);
    const watches = r.count('watch');
    if (isBack) back.resolve();
    back = Promise.withResolvers();
    await settle();
    [...r.client.watches][0]!.fail(tooMany);
    await r.clock.advance(longestMs - 1);
    expect(r.count('watch')).toBe(watches);
    await r.clock.advance(1);
    expect(r.count('watch')).toBe(watches + 1);
    await r.stop();
  });

  it('relists after any other error', async () => {
    const r = start();
    await running(r);
    [...r.client.watches][0]!.fail(apiError(403, 'Forbidden'));
    await r.clock.advance(800);
    expect(r.count('list')).toBe(2);
    expect(r.errors).toHaveLength(1);
    await r.stop();
  });

  it('relists when its version is in the future of the server', async () => {
    const r = start();
    await running(r);
    [...r.client.watches][0]!.fail(apiError(504, 'Timeout', { cause: 'ResourceVersionTooLarge' }));
    await r.clock.advance(800);
    expect(r.count('list')).toBe(2);
    await r.stop();
  });

  it('stays current by lists if watches never work', async () => {
    const r = start();
    r.client.next('watch', ...Array.from({ length: 1000 }, () => apiError(500, 'InternalError')));
    await running(r);
    await r.clock.advance(120_000);
    await r.client.create(Thing, thing('x'));
    await r.clock.advance(30_000);
    expect(r.names()).toEqual(['x']);
    await r.stop();
  });

  it('waits as long as the server asks, up to a limit', async () => {
    const r = start();
    r.client.next('list', apiError(429, 'TooManyRequests', { retryAfterMs: 7_000 }));
    await running(r);
    expect(r.clock.nextIn).toBe(7_000);
    r.client.next('list', apiError(429, 'TooManyRequests', { retryAfterMs: 3_600_000 }));
    await r.clock.advance(7_000);
    expect(r.clock.nextIn).toBe(60_000);
    await r.stop();
  });

  it('resets the backoff after a healthy watch', async () => {
    const r = start();
    r.client.next('list', ...Array.from({ length: 6 }, () => apiError(500, 'InternalError')));
    await running(r);
    await r.clock.advance(800 * 63);
    expect(r.table.synced).toBe(true);
    await r.clock.advance(5_000);
    [...r.client.watches][0]!.fail(apiError(0, 'ConnectionLost'));
    await settle();
    expect(r.clock.nextIn).toBe(800);
    await r.stop();
  });

  it('treats a kind that is not served as empty, and notices when it is served', async () => {
    const r = start();
    r.client.discovery.set('/apis', { kind: 'APIGroupList', groups: [] });
    r.client.next('list', ...Array.from({ length: 12 }, () => apiError(404, 'NotFound')));
    await running(r);
    expect([r.table.served, r.table.synced]).toEqual([false, true]);
    expect(r.errors).toEqual([]);
    await r.client.create(Thing, thing('x'));
    await r.clock.advance(300_000);
    expect([r.table.served, r.names()]).toEqual([true, ['x']]);
    await r.stop();
  });

  it.each([true, false])('waits for a kind that it may not read unless that is optional: %s', async (optional) => {
    const r = start({ scope: { optional } });
    r.client.next('list', apiError(403, 'Forbidden'));
    await running(r);
    expect([r.table.synced, r.errors.length]).toEqual([optional, 1]);
    await r.clock.advance(800);
    expect([r.table.synced, r.table.served]).toEqual([true, true]);
    await r.stop();
  });

  it('keeps the objects of an optional kind while it may not be read', async () => {
    const r = start({ scope: { optional: true } });
    await r.client.create(Thing, thing('x'));
    await running(r);
    r.client.next('list', apiError(403, 'Forbidden'));
    [...r.client.watches][0]!.fail(apiError(403, 'Forbidden'));
    await r.clock.advance(800);
    await r.client.create(Thing, thing('y'));
    expect([r.names(), r.table.served]).toEqual([['x'], true]);
    await r.clock.advance(2_000);
    expect(r.names()).toEqual(['x', 'y']);
    await r.stop();
  });

  const version = { groupVersion: 'test.dev/v1' };
  const groups = { kind: 'APIGroupList', groups: [{ name: 'test.dev', versions: [version] }] };
  const resources = (...names: string[]): unknown => ({
    kind: 'APIResourceList',
    resources: names.map((name) => ({ name })),
  });
  it.each<[string, Readonly<Record<string, unknown>>, boolean]>([
    ['its group is gone', { '/apis': { kind: 'APIGroupList', groups: [] } }, false],
    ['its version is gone', { '/apis': { kind: 'APIGroupList', groups: [{ versions: [] }] } }, false],
    ['its definition is gone', { '/apis': groups, '/apis/test.dev/v1': resources('others') }, false],
    ['discovery is forbidden', { '/apis': apiError(403, 'Forbidden') }, true],
    ['its definition exists', { '/apis': groups, '/apis/test.dev/v1': resources('others', 'things') }, true],
    ['everything is not found', {}, true],
    ['only its version is not found', { '/apis': groups }, true],
    ['a proxy answers', { '/apis': '<html>' }, true],
    ['the server does not answer', { '/apis': apiError(503, 'ServiceUnavailable') }, true],
  ])('decides whether a kind that is not found is served, when %s', async (_name, discovery, served) => {
    const r = start();
    await r.client.create(Thing, thing('x'));
    await running(r);
    for (const [path, answer] of Object.entries(discovery)) r.client.discovery.set(path, answer);
    r.client.next('list', apiError(404, 'NotFound'));
    [...r.client.watches][0]!.fail(apiError(404, 'NotFound'));
    await r.clock.advance(800);
    expect([r.table.served, r.names()]).toEqual([served, served ? ['x'] : []]);
    await r.clock.advance(60_000);
    expect([r.table.served, r.names()]).toEqual([true, ['x']]);
    await r.stop();
  });

  it('does not wait for a kind that is not found if there are no objects and discovery is forbidden', async () => {
    const r = start();
    r.client.discovery.set('/apis', apiError(403, 'Forbidden'));
    r.client.next('list', apiError(404, 'NotFound'));
    await running(r);
    expect([r.table.served, r.table.synced]).toEqual([false, true]);
    await r.stop();
  });

  it('keeps running when callbacks throw', async () => {
    const r = start({
      onState: () => {
        throw new Error('from onState');
      },
    });
    await r.client.create(Thing, thing('x'));
    await running(r);
    expect(r.names()).toEqual(['x']);
    await r.stop();
  });

  it('stops in every state as soon as the signal aborts', async () => {
    const waiting = start();
    waiting.client.next('list', apiError(500, 'InternalError'));
    await running(waiting);
    await waiting.stop();
    expect(waiting.clock.pending).toBe(0);

    const listing = start();
    listing.client.next('list', () => void listing.stop());
    await running(listing);
    await listing.done;
    expect(listing.table.synced).toBe(false);
    expect(listing.errors).toEqual([]);
  });
});

describe('nextState', () => {
  it('never backs off longer than 30 seconds by itself, and never less than half of its step', () => {
    const error = apiError(500, 'InternalError');
    for (const random of [0, 0.5, 0.999]) {
      let state: ReflectorState = { name: 'listing', failures: 0 };
      for (let i = 0; i < 20; i++) {
        state = nextState(state, { name: 'failed', healthy: false, error }, () => random);
        const step = Math.min(800 * 2 ** i, 30_000);
        expect(state).toMatchObject({ name: 'waiting', ms: step * (1 - random / 2) });
        state = nextState(state, { name: 'waited' }, () => random);
        expect(state).toEqual({ name: 'listing', failures: i + 1 });
      }
    }
  });
});
