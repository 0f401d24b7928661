// Runs `offshoot prove` as a process, on manifests and on a cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Deployment } from '../../environments/index.ts';
import type { AnyKind } from '../../kube/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { Service } from '../../traffic/services.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

const CART = { name: 'cart', namespace: 'shop' };

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
  await shop.deploy('cart');
  await shop.run('env', 'create', 'pr-7', '--subset', 'cart=cart:2', '--header', 'x-env=pr-7', '--wait');
}, 60_000);
afterAll(() => shop.stop());

/** Adds or removes a first route to the workload without a subset. */
async function routeWithoutSubset(isThere: boolean): Promise<void> {
  const plain = { name: 'plain', match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'cart' } }] };
  const { spec } = await shop.client.get(VirtualService, CART);
  const http = (spec?.http ?? []).filter(({ name }) => name !== 'plain');
  const body = { spec: { http: isThere ? [plain, ...http] : http } };
  await shop.client.patch(VirtualService, CART, { type: 'merge', body });
}

describe('prove on a cluster', () => {
  test('shows that an environment is isolated, with notes', async () => {
    const isolated = `✓ shop/pr-7 is isolated: every request in the mesh without its key is routed as if it did not exist
    note: Service cart.shop.svc.cluster.local selects shop/Deployment/cart-shop-pr-7: callers without a sidecar, and those on ports that are not HTTP, reach it by load balancing
    note: answers to requests with the key carry x-dynamic-env: cart-shop-pr-7
`;
    for (const args of [['pr-7'], ['shop/pr-7', '-n', 'other'], [], ['-A']]) {
      expect(await shop.run('prove', ...args)).toEqual({ code: 0, stderr: '', stdout: isolated });
    }
    expect((await shop.run('prove', '-n', 'default')).stdout).toBe('There are no environments here.\n');
  });

  test('exits with 1 if an environment is not isolated, and prints a command that shows why', async () => {
    await routeWithoutSubset(true);
    try {
      const line = 'offshoot explain GET http://cart.shop.svc.cluster.local:9080/plain -n shop';
      const { code, stdout, stderr } = await shop.run('prove', 'pr-7');
      expect([code, stderr]).toEqual([1, '']);
      expect(stdout.split('    note:')[0])
        .toBe(`✗ shop/pr-7 is not isolated: a request without its key is routed differently
    without the environment:
      → cart.shop.svc.cluster.local:9080: shop/Deployment/cart
      by route "plain" of VirtualService shop/cart
    with it:
      → cart.shop.svc.cluster.local:9080: shop/Deployment/cart, shop/Deployment/cart-shop-pr-7
      by route "plain" of VirtualService shop/cart
    try: ${line}
`);
      expect((await shop.run(...line.split(' ').slice(1))).stdout).toContain(
        'shop/Deployment/cart, shop/Deployment/cart-shop-pr-7',
      );
      const proved = await shop.run('prove', '-A', '-o', 'json');
      expect(proved.code).toBe(1);
      expect(JSON.parse(proved.stdout)).toMatchObject({
        environments: [
          {
            environment: 'shop/pr-7',
            isolated: 'False',
            reason: 'OtherRequestsMoved',
            counterexample: {
              request: { path: '/plain', source: { namespace: 'shop' } },
              explain: line,
              before: { kind: 'route', destinations: [{ workloads: ['shop/Deployment/cart'] }] },
            },
          },
        ],
      });
      await until(async () => {
        const { status } = await shop.client.get(DynamicEnv, { name: 'pr-7', namespace: 'shop' });
        return status?.conditions?.some(({ type, status: is }) => type === 'Isolated' && is === 'False') ?? false;
      }, 20_000);
    } finally {
      await routeWithoutSubset(false);
    }
  });

  test('fails for an environment that does not exist', async () => {
    const { code, stderr } = await shop.run('prove', 'pr-8');
    expect([code, stderr]).toEqual([
      1,
      'error: there is no environment pr-8 in namespace shop; did you mean pr-7?\ncode: NotFound, see "offshoot errors NotFound"\n',
    ]);
    expect((await shop.run('prove', 'pr-7', '-A')).stderr).toBe(
      'error: ENV and -A: give one of them\ncode: ConflictingFlags, see "offshoot errors ConflictingFlags"\n',
    );
  });

  test('is completed with environments', async () => {
    // Completion gives up quickly on a slow cluster, so a busy machine may need another try.
    const offers = async (...words: string[]): Promise<string> => (await shop.run('complete', '--', ...words)).stdout;
    await until(async () => (await offers('prove', '')).includes('pr-7'), 25_000);
    expect(await offers('prove', '--wo')).toContain('--world');
  });
});

test('prove --world works on manifests without a cluster', async () => {
  const kinds: readonly AnyKind[] = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await shop.client.list(kind, { namespace: 'shop' });
      const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
      return items.map((item) => {
        const { managedFields: _fields, ...metadata } = item.metadata;
        return { ...item, apiVersion, kind: kind.kind, metadata };
      });
    }),
  );
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-prove-'));
  try {
    const file = path.join(dir, 'shop.yaml');
    // As "kubectl get -o yaml" prints them.
    writeFileSync(file, stringify({ apiVersion: 'v1', kind: 'List', items: lists.flat() }, { version: '1.1' }));
    const { code, stdout, stderr } = await shop.run('prove', '-A', '--world', file, '-o', 'yaml');
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      expect.stringMatching(/environment: shop\/pr-7\n\s+isolated: "True"/),
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
