// Runs `offshoot env plan` as a process: its output and exit code. No controller runs, so that planned changes are not
// made meanwhile.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { environment } from '../../../test/environments/workload.ts';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import { Deployment, environments } from '../../environments/index.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

const FEATURE = { name: 'feature', namespace: 'shop' };
const CLONE = { name: 'cart-shop-feature', namespace: 'shop' };
const ROUTE = 'spec.http[dynamic-environment-shop-feature-cart-DIGEST]';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ controller: false });
  await shop.deploy('cart');
  await shop.client.create(DynamicEnv, environment('shop', 'feature', [{ name: 'cart', namespace: 'shop' }]));
  const logger = createLogger({ level: 'silent' });
  const manager = new Manager({ client: shop.client, controllers: environments({ settleMs: 0 }), logger });
  await manager.start();
  await until(async () => (await plan('feature')).lines[0] === 'Nothing to do.', 30_000);
  await manager.stop();
}, 60_000);
afterAll(() => shop.stop());

async function plan(...args: readonly string[]): Promise<{ code: number | null; lines: readonly string[] }> {
  const { code, stdout, stderr } = await shop.run('env', 'plan', ...args);
  expect(stderr).toBe('');
  return {
    code,
    lines: stdout
      .replaceAll(/[0-9a-f]{10}(?=])/g, 'DIGEST')
      .trimEnd()
      .split('\n'),
  };
}

function manifest(workload: string, image = `${workload}:2`): string {
  const file = path.join(shop.dir, `${workload}.yaml`);
  const env = environment('shop', 'feature', []);
  const containers = [{ containerName: workload, image }];
  const subsets = [{ name: workload, namespace: 'shop', containers }];
  writeFileSync(file, stringify({ ...env, spec: { ...env.spec, subsets } }));
  return file;
}

test('plan exits with 0 if there is nothing to do', async () => {
  expect(await plan('feature')).toEqual({
    code: 0,
    lines: ['Nothing to do.', 'Environment shop/feature would be ready.'],
  });
  expect(await plan()).toEqual(await plan('feature'));
});

test('plan has nothing to do for a manifest that is already applied', async () => {
  const { code, lines } = await plan('-f', manifest('cart', 'cart:2'));
  expect([code, lines[0]]).toEqual([0, 'Nothing to do.']);
});

test('plan exits with 2 for a changed image, whoever owns the environment', async () => {
  const { code, lines } = await plan('-f', manifest('cart', 'cart:3'));
  expect([code, lines.filter((line) => !line.startsWith('    spec.subsets') && !line.includes('hash'))]).toEqual([
    2,
    [
      '~ DynamicEnv shop/feature',
      '~ Deployment shop/cart-shop-feature',
      '    spec.template.spec.containers[cart].image: cart:2 → cart:3',
      '',
      '0 to create, 2 to change, 0 to remove.',
      '! offshoot env create -f and apply -f would refuse shop/feature without --force-conflicts: Apply failed with 1 conflict: conflict with "offshoot" using riskified.com/v1alpha1: .spec.subsets',
      'No request would be routed differently.',
      'Environment shop/feature would be ready.',
      '  ✓ isolated: every request in the mesh without its key is routed as if it did not exist',
      '    note: Service cart.shop.svc.cluster.local selects shop/Deployment/cart-shop-feature: callers without a sidecar, and those on ports that are not HTTP, reach it by load balancing',
      '    note: answers to requests with the key carry x-dynamic-env: cart-shop-feature',
    ],
  ]);
});

test('--delete plans all removals, in the order of the writes', async () => {
  expect(await plan('--delete', 'feature')).toEqual({
    code: 2,
    lines: [
      '~ VirtualService shop/cart',
      '    metadata.annotations[riskified.com/dynamic-environment]: shop/feature → ""',
      `    ${ROUTE}: end-user=alice → cart/shop-feature → (removed)`,
      '- DestinationRule shop/cart-shop-feature-cart',
      '- Deployment shop/cart-shop-feature',
      '- DynamicEnv shop/feature',
      '',
      '0 to create, 1 to change, 3 to remove.',
      '',
      'Requests to cart.shop:9080 with end-user: alice go to cart version shared instead of version shop-feature.',
      '',
      'Environment shop/feature would be gone.',
    ],
  });
  expect((await shop.client.get(DynamicEnv, FEATURE)).metadata).not.toHaveProperty('deletionTimestamp');
});

describe('plan exits with 1 for', () => {
  test('an environment whose Deployment does not exist', async () => {
    const { code, lines } = await plan('-f', manifest('ghost'));
    expect([code, lines.at(-2)]).toEqual([
      1,
      expect.stringMatching(/^! Environment shop\/feature would be degraded and make no progress: .*ghost/),
    ]);
    expect(lines).not.toContain('Nothing to do.');
  });

  test('an environment that does not exist', async () => {
    const { code, stderr } = await shop.run('env', 'plan', 'nobody');
    expect([code, stderr]).toEqual([1, expect.stringContaining('nobody')]);
  });
});

test('fields that kubectl applied and the file no longer has are removed, as by kubectl apply', async () => {
  const ttl = { duration: '8h', from: 'Created' };
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const patch = (body: object): Promise<unknown> => shop.client.patch(DynamicEnv, FEATURE, { type: 'merge', body });
  await patch({ metadata: { annotations: { [annotation]: JSON.stringify({ spec: { ttl } }) } }, spec: { ttl } });
  const { lines } = await plan('-f', manifest('cart'));
  expect(lines).toContainEqual(expect.stringMatching(/^ {4}spec\.ttl: /));
  await patch({ metadata: { annotations: { [annotation]: null } }, spec: { ttl: null } });
});

test('-o json prints the plan as data', async () => {
  const { stdout } = await shop.run('env', 'plan', '-f', manifest('cart', 'cart:3'), '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    changes: [{ kind: 'DynamicEnv' }, { do: 'change', kind: 'Deployment', ...CLONE }],
    stalled: [],
    environments: [{ environment: 'shop/feature', state: 'ready' }],
    assumedReady: ['shop/cart-shop-feature'],
    traffic: { changes: [], isPartial: false },
    proofs: [{ environment: 'shop/feature', isolated: 'True', reason: 'Isolated' }],
  });
});

test('-o json has rerouted requests, each with an example', async () => {
  const { stdout } = await shop.run('env', 'plan', '--delete', 'feature', '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    traffic: {
      changes: [
        {
          text: 'Requests to cart.shop:9080 with end-user: alice go to cart version shared instead of version shop-feature.',
          example: {
            request: { port: 9080, path: '/', headers: { 'end-user': 'alice' } },
            before: { kind: 'route', destinations: [{ subset: 'shop-feature' }] },
            after: { kind: 'route', destinations: [{ subset: 'shared' }] },
          },
        },
      ],
      isPartial: false,
    },
    proofs: [],
  });
});

test('plan restores a clone that was changed by hand', async () => {
  const container = { name: 'cart', image: 'cart:9' };
  const body = { spec: { template: { spec: { containers: [container] } } } };
  await shop.client.patch(Deployment, CLONE, { type: 'strategic', body }, { fieldManager: 'kubectl-edit' });
  const { code, lines } = await plan('feature');
  expect([code, lines.slice(0, 2)]).toEqual([
    2,
    ['~ Deployment shop/cart-shop-feature', '    spec.template.spec.containers[cart].image: cart:9 → cart:2'],
  ]);
});

test('plan removes the orphans of a deleted environment', async () => {
  await shop.client.patch(DynamicEnv, FEATURE, { type: 'merge', body: { metadata: { finalizers: null } } });
  await shop.client.delete(DynamicEnv, FEATURE);
  const { code, lines } = await plan();
  expect([code, lines.filter((line) => !line.startsWith('    '))]).toEqual([
    2,
    [
      '~ VirtualService shop/cart',
      '- DestinationRule shop/cart-shop-feature-cart',
      '- Deployment shop/cart-shop-feature',
      '',
      '0 to create, 1 to change, 2 to remove.',
      '',
      'Requests to cart.shop:9080 with end-user: alice go to cart version shared instead of version shop-feature.',
      '',
      'What environments left behind that are gone (shop/feature) is removed 10 minutes after the controllers first see it.',
    ],
  ]);
});
