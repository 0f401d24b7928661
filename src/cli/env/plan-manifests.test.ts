// Runs `offshoot plan --world` without a cluster: manifests in, changes of objects and requests out.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { runnerFor } from '../testing/offshoot-process.ts';
import type { Runner } from '../testing/offshoot-process.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');
const SHOP = path.join(EXAMPLES, 'shop.yaml');
const FIX = path.join(EXAMPLES, 'dynamicenv.yaml');

let dir: string;
let plan: (...args: string[]) => ReturnType<Runner['run']>;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-plan-'));
  const runner = runnerFor(path.join(dir, 'none'));
  plan = (...args) => runner.run('plan', ...args);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const made = path.join(dir, name);
  writeFileSync(made, text);
  return made;
}

const MOVED = [
  'Requests to orders.shop:80 with x-env: checkout-fix go to orders version shop-checkout-fix instead of version shared.',
  'Requests to orders.shop:80 from pods with team=checkout go to orders version shop-checkout-fix instead of version shared.',
];

test('a new environment is planned with its objects, its requests and the proof', async () => {
  const { code, stdout, stderr } = await plan('-f', FIX, '--world', SHOP);
  expect([code, stderr]).toEqual([2, '']);
  expect(stdout.replaceAll(/[0-9a-f]{10}(?=])/g, 'DIGEST').split('    note:')[0]).toBe(`+ DynamicEnv shop/checkout-fix
+ Deployment shop/orders-shop-checkout-fix
+ DestinationRule shop/orders-shop-checkout-fix-orders
+ Deployment shop/payments-shop-checkout-fix
~ VirtualService shop/orders
    metadata.annotations[riskified.com/dynamic-environment]: shop/checkout-fix
    spec.http[dynamic-environment-shop-checkout-fix-orders-DIGEST]: x-env=checkout-fix → orders/shop-checkout-fix
    spec.http[dynamic-environment-shop-checkout-fix-orders-DIGEST]: source:team=checkout → orders/shop-checkout-fix

4 to create, 1 to change, 0 to remove.

${MOVED.join('\n')}

Routes come once the pods of their clones are ready.
Environment shop/checkout-fix would be ready.
  ✓ isolated: every request in the mesh without its key is routed as if it did not exist
`);
});

test('an environment with a short time to live is created, and the plan says that it expires', async () => {
  const { spec, ...env } = parse(readFileSync(FIX, 'utf8')) as { spec: object };
  const short = file('short.yaml', stringify({ ...env, spec: { ...spec, ttl: { duration: '30s' } } }));
  const { code, stdout } = await plan('-f', short, '--world', SHOP);
  expect(code).toBe(2);
  expect(stdout).toContain('4 to create, 1 to change, 0 to remove.\n');
  expect(stdout).toContain('Environment shop/checkout-fix would be ready, and expire after 30s.\n');
});

test('an environment among the manifests is planned by name, or with its namespace', async () => {
  const one = await plan('checkout-fix', '-n', 'shop', '--world', EXAMPLES, '-o', 'json');
  expect(one.code).toBe(2);
  const { traffic, environments } = JSON.parse(one.stdout) as {
    traffic: { changes: { text: string }[] };
    environments: unknown;
  };
  expect(traffic.changes.map(({ text }) => text)).toEqual(MOVED);
  expect(environments).toEqual([{ environment: 'shop/checkout-fix', state: 'ready' }]);
  expect((await plan('-n', 'shop', '--world', EXAMPLES)).stdout).toContain(MOVED.join('\n'));
  expect((await plan('--world', SHOP)).stdout).toBe('Nothing to do.\n');
});

test('a change or deletion of an environment among the manifests is planned', async () => {
  const world = file('all.yaml', `${readFileSync(SHOP, 'utf8')}---\n${readFileSync(FIX, 'utf8')}`);
  const changed = file('changed.yaml', readFileSync(FIX, 'utf8').replaceAll('checkout-fix}', 'other}'));
  const { stdout } = await plan('-f', changed, '--world', world);
  expect(stdout).toContain(MOVED[0]!.replace('x-env: checkout-fix', 'x-env: other'));
  expect(await plan('--delete', 'checkout-fix', '-n', 'shop', '--world', world)).toMatchObject({
    code: 2,
    stdout: expect.stringContaining('- DynamicEnv shop/checkout-fix\n') as string,
  });
});

test('the plan shows rerouted requests of others for a route without a subset, with an example', async () => {
  const open =
    '  http:\n    - name: open\n      match: [{uri: {prefix: /open}}]\n      route: [{destination: {host: orders}}]';
  const world = file('open.yaml', readFileSync(SHOP, 'utf8').replace('  http:', open));
  const { code, stdout } = await plan('-f', FIX, '--world', world);
  expect(code).toBe(2);
  expect(stdout).toContain(
    'Requests to orders.shop:80 with a path that starts with /open go to orders: shop/Deployment/orders, shop/Deployment/orders-shop-checkout-fix, instead of shop/Deployment/orders.\n',
  );
  expect(stdout).toContain('  ✗ not isolated: a request without its key is routed differently');
  expect(stdout).toContain('    try: offshoot explain GET http://orders.shop.svc.cluster.local/open -n shop\n');
});

test('the plan shows a conflict with an environment that matches the same requests', async () => {
  const world = file('two.yaml', `${readFileSync(SHOP, 'utf8')}---\n${readFileSync(FIX, 'utf8')}`);
  const second = file('second.yaml', readFileSync(FIX, 'utf8').replace('name: checkout-fix', 'name: second'));
  const { stdout } = await plan('-f', second, '--world', world);
  expect(stdout).toMatch(
    /\n {2}! conflict: istioMatches\[0]: environment shop\/checkout-fix asks for the same requests to shop\/orders/,
  );
});

test('a new environment is ordered after those of the world, whatever their names', async () => {
  const second = file('earlier-name.yaml', readFileSync(FIX, 'utf8').replace('name: checkout-fix', 'name: a'));
  const dated = readFileSync(FIX, 'utf8').replace(
    'name: checkout-fix',
    'name: checkout-fix\n  creationTimestamp: "2026-01-01T00:00:00Z"',
  );
  for (const env of [readFileSync(FIX, 'utf8'), dated]) {
    const world = file('earlier.yaml', `${readFileSync(SHOP, 'utf8')}---\n${env}`);
    const { code, stdout } = await plan('-f', second, '--world', world);
    expect(code).toBe(1);
    expect(stdout).toContain('Environment shop/a would be degraded and make no progress');
    expect(stdout).toMatch(
      /conflict: .* environment shop\/checkout-fix .*: it was created first, so its routes come first/,
    );
  }
});

test.each(['yaml', 'json'])('the hash of a subset in a %s world is read without loss', async (format) => {
  const made = await plan('-f', FIX, '--world', SHOP, '-o', format);
  const [, hash] = /"?hash"?: (-?\d{17,})/.exec(made.stdout)!;
  const deployment = { name: 'orders-shop-checkout-fix', namespace: 'shop', status: 'running' };
  const status = { subsetsStatus: { 'shop/orders': { hash: 'HASH', deployment } } };
  const stored = { ...(parse(readFileSync(FIX, 'utf8')) as object), status };
  const text = (format === 'json' ? JSON.stringify(stored) : stringify(stored)).replace(/"?HASH"?/, hash!);
  const world = mkdtempSync(path.join(dir, 'world-'));
  writeFileSync(path.join(world, `env.${format}`), text);
  writeFileSync(path.join(world, 'shop.yaml'), readFileSync(SHOP, 'utf8'));
  const { code, stdout } = await plan('checkout-fix', '-n', 'shop', '--world', world);
  expect(code).toBe(2);
  expect(stdout).not.toContain('status.subsetsStatus[shop/orders].hash');
});

test('the plan exits with 1 for an environment that cannot work', async () => {
  const ghost = file('ghost.yaml', readFileSync(FIX, 'utf8').replaceAll('name: orders', 'name: ghost'));
  const { code, stdout } = await plan('-f', ghost, '--world', SHOP);
  expect([code, stdout]).toEqual([1, expect.stringContaining('would be degraded and make no progress')]);
  expect(stdout).not.toContain('✓');
  expect(stdout).toContain(
    '\n  - isolated: every request in the mesh without its key is routed as if it did not exist\n',
  );
});

test('contradictory arguments are rejected', async () => {
  const world = ['-n', 'shop', '--world', EXAMPLES];
  const errorOf = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await plan(...args, ...world);
    expect([code, stdout]).toEqual([1, '']);
    return stderr.replace(/code: .*\n$/, '');
  };
  expect(await errorOf('-f', FIX, '--delete', 'checkout-fix')).toContain(
    'error: --delete "checkout-fix": it is among the objects of -f too; leave one out\n',
  );
  expect(await errorOf('checkout-fix', '--delete', 'checkout-fix')).toContain(
    'error: NAME "checkout-fix": what --delete names is asked about anyway; leave it out\n',
  );
  expect(await errorOf('-f', FIX, '-f', FIX)).toContain(
    'error: -f: DynamicEnv shop/checkout-fix is there twice: leave one out\n',
  );
  expect(await errorOf('--context', 'staging')).toMatch(/'--world <path>' cannot be used with option '--context/);
});

test('errors name the flag', async () => {
  expect((await plan('nobody', '-n', 'shop', '--world', EXAMPLES)).stderr).toMatch(
    /^error: there is no environment nobody in namespace shop of --world/,
  );
  expect((await plan('-f', FIX, '--world', path.join(dir, 'nowhere'))).stderr).toMatch(/^error: --world /);
  expect((await plan('-f', '-', '--world', '-')).stderr).toBe(
    'error: only one of -f and --world can be -\ncode: ConflictingFlags, see "offshoot errors ConflictingFlags"\n',
  );
});
