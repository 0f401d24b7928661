import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestContext } from './request.ts';
import { requestOf, requestsOf } from './requests.ts';

const context: RequestContext = {
  callers: new Map([['shop/web', { namespace: 'shop', labels: { app: 'web' } }]]),
  gateways: new Map([['istio-system/edge', { http: [8080], https: [443, 8443] }]]),
  namespace: 'team',
};

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-requests-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function fileWith(...lines: string[]): string {
  const file = path.join(dir, 'requests.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

test('requestsOf reads requests line by line and skips empty lines', () => {
  const file = fileWith(
    '\uFEFF{"url": "http://reviews.shop:9080/api?x=1#top", "headers": {"X-Env": ["a", "b"]}, "from": "shop/web"}\r',
    '',
    '{"method": "PUT", "url": "https://example.com", "gateway": "istio-system/edge", "expect": {"status": 404}}',
    '{"url": "http://reviews", "headers": {"Host": "other"}, "from": {"labels": {"a": "b"}}}',
  );
  expect(requestsOf(file, context)).toEqual([
    {
      place: `${file}:1`,
      title: 'GET http://reviews.shop:9080/api?x=1#top from shop/web',
      request: {
        method: 'GET',
        scheme: 'http',
        host: 'reviews.shop:9080',
        port: 9080,
        path: '/api?x=1',
        headers: { 'x-env': ['a', 'b'] },
        source: { namespace: 'shop', labels: { app: 'web' } },
      },
    },
    {
      place: `${file}:3`,
      title: 'PUT https://example.com at gateway istio-system/edge',
      request: {
        method: 'PUT',
        scheme: 'https',
        host: 'example.com',
        port: 443,
        path: '/',
        headers: {},
        source: { gateway: 'istio-system/edge' },
      },
      expect: { status: 404 },
    },
    expect.objectContaining({
      title: 'GET http://reviews from namespace team (a=b)',
      request: expect.objectContaining({ host: 'other', port: 80, source: { namespace: 'team', labels: { a: 'b' } } }),
    }),
  ]);
});

test.each([
  ['{"url": ', /^--requests .*:2: this is not JSON: /],
  ['[]', /:2: \[\] is not an object$/],
  ['{}', /:2: url: it is missing/],
  ['{"url": "reviews"}', /:2: url: "reviews" is no address such as http:\/\/reviews\.shop:9080\/api$/],
  ['{"url": "http://a:99999"}', /:2: url: port 99999 is not one from 1 to 65535$/],
  ['{"url": "http://a b/"}', /:2: url: /],
  ['{"url": "http://a", "method": "G T"}', /:2: method: "G T" is no method such as GET$/],
  ['{"url": "http://a", "header": {}}', /:2: header: there is no such field; those there are: method, url, headers/],
  ['{"url": "http://a", "headers": {"x-env": 7}}', /:2: headers\.x-env: 7 is not a string$/],
  ['{"url": "http://a", "headers": {"x-env": ["a", null]}}', /:2: headers\.x-env\[1\]: null is not a string$/],
  ['{"url": "http://a", "headers": {"x env": "a"}}', /:2: headers: "x env" is not a header name$/],
  ['{"url": "http://a", "from": "shop/wbe"}', /:2: from: there is no workload shop\/wbe; did you mean shop\/web\?$/],
  ['{"url": "http://a", "from": {"labels": {"a": 1}}}', /:2: from\.labels\.a: 1 is not a string$/],
  ['{"url": "http://a", "gateway": "x"}', /:2: gateway: there is no Gateway x; it is written NAMESPACE\/NAME$/],
  ['{"url": "http://a", "gateway": "x", "from": "y"}', /:2: gateway: a request with "from" does not come in/],
  [
    '{"url": "http://a", "expect": {"code": 1}}',
    /:2: expect\.code: there is no such field; .*workload, subset, status$/,
  ],
  ['{"url": "http://a", "expect": {"status": "503"}}', /:2: expect\.status: "503" is no status such as 503$/],
])('requestsOf names an invalid line: %s', (line, message) => {
  const file = fileWith('{"url": "http://a"}', line);
  expect(() => requestsOf(file, context)).toThrow(message);
});

test.each(['', '\n \n'])('requestsOf rejects a file without requests: %j', (text) => {
  expect(() => requestsOf(fileWith(text), context)).toThrow(/^--requests .*: there is no request in it$/);
});

test('requestsOf names a file that does not exist', () => {
  expect(() => requestsOf(path.join(dir, 'none'), context)).toThrow(/^--requests ".*none": the file does not exist$/);
});

test('requestOf takes headers as curl does', () => {
  const { request } = requestOf(
    'http://a',
    undefined,
    { header: ['X-Env:  pr-7 ', 'x-env: b', 'c:', 'constructor: d'] },
    context,
  );
  expect(request).toMatchObject({ method: 'GET', headers: { 'x-env': ['pr-7', 'b'], c: [''], constructor: ['d'] } });
});

test.each([
  ['GET', 'reviews', {}, /^URL: "reviews" is no address/],
  ['GET', 'http://a', { header: ['x-env'] }, /^-H "x-env": it is written 'name: value'$/],
  ['GET', 'http://a', { from: 'web' }, /^--from: there is no workload web; did you mean shop\/web/],
  ['GET', 'http://a', { gateway: 'istio-system/edg' }, /^--gateway: .*did you mean istio-system\/edge\?$/],
])('requestOf names an invalid argument: %s %s %j', (method, url, flags, message) => {
  expect(() => requestOf(method, url, flags, context)).toThrow(message);
});

describe('a request to loopback', () => {
  test.each([
    ['http://127.0.0.1:7480/', {}, 8080, ', port 8080'],
    ['http://localhost:7480/', { gateway: 'istio-system/edge' }, 8080, ', port 8080'],
    ['http://localhost:8080/', {}, 8080, ''],
    ['https://localhost:7443/', {}, 7443, ''],
  ])('enters through a gateway: %s %j', (url, flags, port, portText) => {
    const { request, title } = requestOf(url, undefined, flags, context);
    expect(request).toMatchObject({ source: { gateway: 'istio-system/edge' }, port, host: url.split('/')[2] });
    expect(title).toBe(`GET ${url} at gateway istio-system/edge${portText}`);
  });

  test('needs --gateway if there are several gateways', () => {
    const gateways = new Map([...context.gateways, ['shop/inner', {}] as const]);
    expect(() => requestOf('http://127.0.0.1:7480/', undefined, {}, { ...context, gateways })).toThrow(
      '--gateway: it is missing, for a request to this machine comes in by one: istio-system/edge, shop/inner',
    );
  });

  test('does not enter through a gateway with --from', () => {
    const { request } = requestOf('http://127.0.0.1:7480/', undefined, { from: 'shop/web' }, context);
    expect(request).toMatchObject({ source: { namespace: 'shop' }, port: 7480 });
  });
});
