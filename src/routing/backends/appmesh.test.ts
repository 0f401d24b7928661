// Limits of AWS App Mesh that several rules reach together.
import { expect, test } from 'vitest';
import type { Route } from '../model.ts';
import { routeCount } from '../resolve/hosts.ts';
import { hostLimit, routesOf } from './appmesh.ts';

const HOST = 'cart.shop.svc.cluster.local';

function routes(count: number, kind: 'exact' | 'prefix', methods: readonly string[] = []): Route[] {
  return Array.from({ length: count }, (_none, i) => ({
    rule: { name: `r${i}`, namespace: 'shop' },
    matcher: 0,
    match: { path: { kind, value: `/${i}` }, headers: [], query: [], methods },
    split: [{ workload: 'cart-vn', host: HOST, port: 80, weight: 1 }],
  }));
}

test('routesOf gives every route a unique priority from 0 to 1000', () => {
  const all = routes(1001, 'exact');
  expect(hostLimit(HOST, routeCount(all))).toBeUndefined();
  const priorities = routesOf(
    { host: HOST, service: { name: 'cart', namespace: 'shop' }, port: 80, routes: all },
    'strict',
  );
  expect(new Set(priorities.map(({ priority }) => priority)).size).toBe(1001);
  expect(Math.max(...priorities.map(({ priority }) => priority!))).toBe(1000);
});

test('hostLimit refuses more than 1001 routes, and counts a route for each method', () => {
  expect(hostLimit(HOST, routeCount(routes(1002, 'exact')))).toMatchObject({
    code: 'ROUTER_TOO_MANY_ROUTES',
    message: expect.stringContaining(`host ${HOST} would have 1002 routes`) as string,
  });
  expect(hostLimit(HOST, routeCount(routes(501, 'exact', ['GET', 'PUT'])))?.code).toBe('ROUTER_TOO_MANY_ROUTES');
});

test('hostLimit allows any number of plain prefixes, as they need no priorities', () => {
  const plain = routes(1500, 'prefix');
  expect(hostLimit(HOST, routeCount(plain))).toBeUndefined();
  expect(hostLimit(HOST, routeCount([...plain, ...routes(1, 'exact')]))?.code).toBe('ROUTER_TOO_MANY_ROUTES');
});
