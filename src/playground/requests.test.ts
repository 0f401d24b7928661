// Requests through the shop, hop by hop: who answers, with which headers, and what comes of faults, time-outs, retries
// and destinations where nobody is.
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
  test('goes through the base of every workload', async () => {
    const { status, headers, answer } = await shopInTables().ask();
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(answer).toMatchObject({ service: 'frontend', image: 'shop/frontend:1', pod: 'frontend-1-a' });
  });

  test('carries its headers from hop to hop, whatever the key is called', async () => {
    for (const name of ['x-env', 'baggage', 'end-user']) {
      const shop = shopInTables();
      shop.workload('ratings', { image: 'shop/ratings:9', version: 'nine' });
      shop.routes('ratings', [keyed('ratings', 'nine', name), base('ratings')]);
      expect([await shop.path(), await shop.path({ [name]: 'pr-7' })]).toEqual(['1 1 1 1', '1 1 1 9']);
    }
  });

  test('does not carry on what is about one message', async () => {
    const shop = shopInTables();
    shop.workload('catalog', { image: 'shop/catalog:9', version: 'nine' });
    shop.routes('catalog', [keyed('catalog', 'nine', 'accept'), base('catalog')]);
    expect(await shop.path({ accept: 'pr-7' })).toBe('1 1 1 1');
  });

  test('follows what changes at once', async () => {
    const shop = shopInTables();
    expect(await shop.path({ 'x-env': 'pr-7' })).toBe('1 1 1 1');
    shop.workload('reviews', { image: 'me/what-i-like:3', version: 'mine' });
    shop.routes('reviews', [keyed('reviews', 'mine'), base('reviews')]);
    // A workload that calls nobody ends the path.
    expect(await shop.path({ 'x-env': 'pr-7' })).toBe('1 1 me/what-i-like:3');
  });

  test('gets a page where it asks for one', async () => {
    const { headers, isPage } = await shopInTables().ask({ accept: 'text/html,*/*;q=0.8' });
    expect([isPage, headers['content-type']]).toEqual([true, 'text/html; charset=utf-8']);
  });

  test('at a host that nobody has at the gateway is 404, as Envoy says it', async () => {
    const shop = shopInTables();
    shop.put(VirtualService, 'shop', {
      spec: { hosts: ['shop.example.com'], gateways: ['gateway'], http: [base('frontend')] },
    });
    expect(await shop.ask({}, { host: 'other.example.com' })).toMatchObject({ status: 404, text: '' });
    expect(await shop.ask({}, { host: 'shop.example.com:7480' })).toMatchObject({ status: 200 });
  });
});

describe('a route', () => {
  test('changes headers on the way there and back', async () => {
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

  test('shares requests by weight', async () => {
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
      'redirects',
      { redirect: { uri: '/new', redirectCode: 308 } },
      { status: 308, headers: { location: 'http://127.0.0.1:7480/new' } },
    ],
    [
      'answers itself',
      { directResponse: { status: 418, body: { string: 'tea' } } },
      { status: 418, text: 'tea', headers: { 'content-type': 'text/plain' } },
    ],
    [
      'aborts',
      { ...base('frontend'), fault: { abort: { httpStatus: 500, percentage: { value: 100 } } } },
      { status: 500, text: 'fault filter abort' },
    ],
    ['leads to a subset that nobody has declared', { route: [to('frontend', 'gone')] }, { status: 503, text: '' }],
    ['leads to a host that nobody knows', { route: [{ destination: { host: 'nowhere' } }] }, { status: 503, text: '' }],
  ])('that %s', async (_what, route, reply) => {
    const shop = shopInTables();
    shop.put(VirtualService, 'shop', { spec: { hosts: ['*'], gateways: ['gateway'], http: [route] } });
    expect(await shop.ask()).toMatchObject(reply);
  });

  test('that leads to pods of which none is ready, and says why', async () => {
    const shop = shopInTables();
    shop.workload('frontend', { image: 'shop/frontend:1', isReady: false });
    expect(await shop.ask()).toMatchObject({
      status: 503,
      text: 'no healthy upstream',
      reason: expect.stringContaining('by route "base" of VirtualService playground/shop'),
    });
  });

  test('inside of the shop that fails is told by whoever called', async () => {
    const shop = shopInTables();
    shop.routes('ratings', [{ ...base('ratings'), fault: { abort: { httpStatus: 500, percentage: { value: 100 } } } }]);
    expect((await shop.ask()).status).toBe(502);
    expect(await shop.path()).toBe('1 1 1 500');
  });

  test('waits no longer than its timeout', async () => {
    const shop = shopInTables();
    shop.routes('ratings', [
      { ...base('ratings'), fault: { delay: { fixedDelay: '1h', percentage: { value: 100 } } } },
    ]);
    shop.routes('reviews', [{ ...base('reviews'), timeout: '20ms' }]);
    expect(await shop.path()).toBe('1 1 504');
  });

  test('tries again as often as it says, where it says so', async () => {
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

describe('workloads', () => {
  test('that call each other come to an end', async () => {
    const shop = shopInTables();
    shop.workload('ratings', { image: 'shop/ratings:1', calls: 'http://reviews:8080/' });
    const path = await shop.path();
    expect([path.split(' ').length, path.endsWith(' 508')]).toEqual([102, true]);
  });

  test('may call several, also others that nobody knows', async () => {
    const shop = shopInTables();
    shop.workload('reviews', {
      image: 'shop/reviews:1',
      calls: 'http://ratings:8080/, http://www.example.com/, ftp://x/',
    });
    expect(await shop.path()).toBe('1 1 1 1 502 502');
  });
});
