// Requests through the shop, hop by hop: which pods answer, with which headers, and the effect of faults, timeouts,
// retries and destinations without endpoints.
import { describe, expect, test } from 'vitest';
import { VirtualService } from '../traffic/istio/objects.ts';
import type { HttpRoute } from '../traffic/istio/objects.ts';
import { shopInTables } from './testing/shop-tables.ts';

const to = (host: string, subset = 'shared') => ({ destination: { host, subset } });
const base = (host: string): HttpRoute => ({ name: 'base', route: [to(host)] });
const keyed = (host: string, subset: string, name = 'x-env'): HttpRoute => ({
  match: [{ headers: { [name]: { exact: 'pr-7' } } }],
  route: [to(host, subset)],
});

describe('a request through the shop', () => {
  test('reaches the base of every workload', async () => {
    const { status, headers, answer } = await shopInTables().ask();
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(answer).toMatchObject({ service: 'frontend', image: 'shop/frontend:1', pod: 'frontend-1-a' });
  });

  test('has its headers propagated from hop to hop, whatever the name of the key header', async () => {
    for (const name of ['x-env', 'baggage', 'end-user']) {
      const shop = shopInTables();
      shop.workload('ratings', { image: 'shop/ratings:9', version: 'nine' });
      shop.routes('ratings', [keyed('ratings', 'nine', name), base('ratings')]);
      expect([await shop.path(), await shop.path({ [name]: 'pr-7' })]).toEqual(['1 1 1 1', '1 1 1 9']);
    }
  });

  test('does not have headers propagated that concern one message only', async () => {
    const shop = shopInTables();
    shop.workload('catalog', { image: 'shop/catalog:9', version: 'nine' });
    shop.routes('catalog', [keyed('catalog', 'nine', 'accept'), base('catalog')]);
    expect(await shop.path({ accept: 'pr-7' })).toBe('1 1 1 1');
  });

  test('follows changed routes at once', async () => {
    const shop = shopInTables();
    expect(await shop.path({ 'x-env': 'pr-7' })).toBe('1 1 1 1');
    shop.workload('reviews', { image: 'me/what-i-like:3', version: 'mine' });
    shop.routes('reviews', [keyed('reviews', 'mine'), base('reviews')]);
    // A workload without calls ends the path.
    expect(await shop.path({ 'x-env': 'pr-7' })).toBe('1 1 me/what-i-like:3');
  });

  test('gets an HTML page if it accepts one', async () => {
    const { headers, isPage } = await shopInTables().ask({ accept: 'text/html,*/*;q=0.8' });
    expect([isPage, headers['content-type']]).toEqual([true, 'text/html; charset=utf-8']);
  });

  test('gets a 404 for a host that the gateway does not know, as from Envoy', async () => {
    const shop = shopInTables();
    shop.put(VirtualService, 'shop', {
      spec: { hosts: ['shop.example.com'], gateways: ['gateway'], http: [base('frontend')] },
    });
    expect(await shop.ask({}, { host: 'other.example.com' })).toMatchObject({ status: 404, text: '' });
    expect(await shop.ask({}, { host: 'shop.example.com:7480' })).toMatchObject({ status: 200 });
  });
});

describe('a route', () => {
  test('changes headers of requests and responses', async () => {
    const shop = shopInTables();
    shop.workload('catalog', { image: 'shop/catalog:9', version: 'nine' });
    shop.routes('catalog', [keyed('catalog', 'nine'), base('catalog')]);
    const headers = {
      request: { set: { 'x-env': 'pr-7' }, remove: ['x-other'] },
      response: { set: { 'x-from': 'a' }, add: { 'content-type': 'b' }, remove: ['vary'] },
    };
    shop.put(VirtualService, 'shop', {
      spec: { hosts: ['*'], gateways: ['gateway'], http: [{ ...base('frontend'), headers }] },
    });
    const reply = await shop.ask({ 'x-env': 'other' });
    expect(reply.answer?.calls[0]?.answer?.image).toBe('shop/catalog:9');
    expect(reply.headers).toEqual({
      'content-type': ['application/json', 'b'],
      'x-content-type-options': 'nosniff',
      'x-from': 'a',
    });
  });

  test('splits requests by weight', async () => {
    const shares = [0, 0.29, 0.3, 0.99];
    const versions = await Promise.all(
      shares.map(async (share) => {
        const shop = shopInTables(() => share);
        shop.workload('frontend', { image: 'shop/frontend:2', version: 'two' });
        const route = [
          { ...to('frontend', 'two'), weight: 30 },
          { ...to('frontend'), weight: 70 },
        ];
        shop.put(VirtualService, 'shop', { spec: { hosts: ['*'], gateways: ['gateway'], http: [{ route }] } });
        return (await shop.path()).split(' ')[0];
      }),
    );
    expect(versions).toEqual(['2', '2', '1', '1']);
  });

  test.each<[string, HttpRoute, object]>([
    [
      'is a redirect',
      { redirect: { uri: '/new', redirectCode: 308 } },
      { status: 308, headers: { location: 'http://127.0.0.1:7480/new' } },
    ],
    [
      'is a direct response',
      { directResponse: { status: 418, body: { string: 'tea' } } },
      { status: 418, text: 'tea', headers: { 'content-type': 'text/plain' } },
    ],
    [
      'has an abort fault',
      { ...base('frontend'), fault: { abort: { httpStatus: 500, percentage: { value: 100 } } } },
      { status: 500, text: 'fault filter abort' },
    ],
    ['leads to a subset that is not declared', { route: [to('frontend', 'gone')] }, { status: 503, text: '' }],
    ['leads to an unknown host', { route: [{ destination: { host: 'nowhere' } }] }, { status: 503, text: '' }],
  ])('answers as Envoy does if it %s', async (_what, route, reply) => {
    const shop = shopInTables();
    shop.put(VirtualService, 'shop', { spec: { hosts: ['*'], gateways: ['gateway'], http: [route] } });
    expect(await shop.ask()).toMatchObject(reply);
  });

  test('answers 503 with the reason if no pod is ready', async () => {
    const shop = shopInTables();
    shop.workload('frontend', { image: 'shop/frontend:1', isReady: false });
    expect(await shop.ask()).toMatchObject({
      status: 503,
      text: 'no healthy upstream',
      reason: expect.stringContaining('by route "base" of VirtualService playground/shop'),
    });
  });

  test('inside the shop that fails is reported by its caller', async () => {
    const shop = shopInTables();
    shop.routes('ratings', [{ ...base('ratings'), fault: { abort: { httpStatus: 500, percentage: { value: 100 } } } }]);
    expect((await shop.ask()).status).toBe(502);
    expect(await shop.path()).toBe('1 1 1 500');
  });

  test('answers 504 after its timeout', async () => {
    const shop = shopInTables();
    shop.routes('ratings', [
      { ...base('ratings'), fault: { delay: { fixedDelay: '1h', percentage: { value: 100 } } } },
    ]);
    shop.routes('reviews', [{ ...base('reviews'), timeout: '20ms' }]);
    expect(await shop.path()).toBe('1 1 504');
  });

  test('retries as often as it says, on the conditions that it names', async () => {
    // Each of the four hops draws for a destination and for a pod; the ninth draw is for the abort, which comes once.
    for (const [retryOn, path] of [
      ['5xx', '1 1 1 1'],
      ['retriable-4xx', '1 1 1 500'],
    ] as const) {
      let draws = 0;
      const shop = shopInTables(() => (draws++ === 8 ? 0.1 : 0.9));
      const abort = { httpStatus: 500, percentage: { value: 50 } };
      shop.routes('ratings', [{ ...base('ratings'), fault: { abort } }]);
      shop.routes('reviews', [{ ...base('reviews'), retries: { attempts: 1, retryOn } }]);
      expect([retryOn, await shop.path()]).toEqual([retryOn, path]);
    }
  });
});

describe('a workload', () => {
  test('in a call cycle stops at the limit of calls', async () => {
    const shop = shopInTables();
    shop.workload('ratings', { image: 'shop/ratings:1', calls: 'http://reviews:8080/' });
    const path = await shop.path();
    expect([path.split(' ').length, path.endsWith(' 508')]).toEqual([102, true]);
  });

  test('may call several hosts, also unknown ones', async () => {
    const shop = shopInTables();
    shop.workload('reviews', {
      image: 'shop/reviews:1',
      calls: 'http://ratings:8080/, http://www.example.com/, ftp://x/',
    });
    expect(await shop.path()).toBe('1 1 1 1 502 502');
  });
});
