// Runs `offshoot doctor` as a process, on manifests and on a cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Diagnosis } from '../../environments/index.ts';
import { DestinationRule } from '../../traffic/istio/objects.ts';
import { runnerFor } from '../testing/offshoot-process.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');

describe('doctor --world', () => {
  let dir: string;
  let doctor: (...args: string[]) => ReturnType<Shop['run']>;
  beforeAll(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-doctor-'));
    const runner = runnerFor(path.join(dir, 'none'));
    doctor = (...args) => runner.run('doctor', ...args);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test.each([
    ['shop', '2 workloads'],
    ['hello', '1 workload'],
  ])('finds no problem in the example %s', async (namespace, workloads) => {
    const expected = {
      code: 0,
      stderr: '',
      stdout: `${workloads} with a Service: nothing keeps environments from working.\n`,
    };
    const world = path.join(EXAMPLES, `${namespace}.yaml`);
    expect(await doctor('-A', '--world', world)).toEqual(expected);
    expect(await doctor('-n', namespace, '--world', world)).toEqual(expected);
  });

  test('exits with 1 on an error, and says what to do', async () => {
    const file = path.join(dir, 'shop.yaml');
    writeFileSync(
      file,
      `
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart}
spec: {template: {metadata: {labels: {app: cart}}}}
---
apiVersion: v1
kind: Service
metadata: {name: cart}
spec: {selector: {app: cart}, ports: [{port: 80, name: http}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: cart}
spec: {host: cart, subsets: [{name: shared, labels: {version: shared}}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: cart}
spec: {hosts: [cart], http: [{route: [{destination: {host: cart}}]}]}
`,
    );
    expect(await doctor('-n', 'shop', '--world', file)).toEqual({
      code: 1,
      stderr: '',
      stdout: `error: VirtualService shop/cart: route http[0] leads to cart.shop.svc.cluster.local without a subset: its requests reach clones by load balancing whatever their headers are, and environments get no route next to it
    add subset: shared to the destination

1 workload with a Service: 1 error, 0 warnings, 0 notes.
`,
    });
    const { code, stdout } = await doctor('-n', 'shop', '--world', file, '-o', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      workloads: 1,
      findings: [{ severity: 'error', reason: 'RouteWithoutSubset', kind: 'VirtualService', object: 'shop/cart' }],
    });
  });

  test('calls nothing an orphan unless the manifests contain environments of its namespace', async () => {
    const annotations = '{riskified.com/dynamic-environment: shop/pr-7}';
    const clone = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart-shop-pr-7, labels: {version: shop-pr-7}, annotations: ${annotations}}
spec: {template: {metadata: {labels: {app: cart}}}}
`;
    const env = (name: string, namespace: string) => `---
apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: {name: ${name}, namespace: ${namespace}}
spec: {key: ${name}, subsets: []}
`;
    const stdoutWith = async (...envs: readonly string[]): Promise<string> => {
      const file = path.join(dir, 'clone.yaml');
      writeFileSync(file, [clone, ...envs].join(''));
      const { code, stderr, stdout } = await doctor('-n', 'shop', '--world', file);
      expect([code, stderr]).toEqual([0, '']);
      return stdout;
    };
    const nothing = '0 workloads with a Service: nothing was examined.\n';
    expect(await stdoutWith()).toBe(nothing);
    expect(await stdoutWith(env('pr-8', 'team'))).toBe(nothing);
    expect(await stdoutWith(env('pr-8', 'shop'), env('pr-7', 'shop'))).toBe(nothing);
    expect(await stdoutWith(env('pr-8', 'shop')))
      .toBe(`note: Deployment shop/cart-shop-pr-7: its annotation names environment shop/pr-7, which is not among the manifests: it may be left over, but its managedFields do not say that Offshoot applied it
    delete it if nobody needs it, or else remove its annotation riskified.com/dynamic-environment

0 workloads with a Service: 0 errors, 0 warnings, 1 note.
`);
  });

  test('fails with the name of the flag if the manifests cannot be read', async () => {
    expect(await doctor('--world', path.join(dir, 'nowhere'))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: --world /) as string,
    });
    expect((await doctor('-n', 'shp', '--world', path.join(EXAMPLES, 'shop.yaml'))).stderr).toMatch(
      /^error: --world has nothing in namespace shp; did you mean shop\?\n/,
    );
    expect((await doctor('-A', '-n', 'shop', '--world', EXAMPLES)).stderr).toMatch(/cannot be used with/);
  });
});

describe('doctor on a cluster', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ controller: false });
    await shop.deploy('cart');
    await shop.deploy('pay', { mesh: false });
  }, 60_000);
  afterAll(() => shop.stop());

  test('fails for a missing namespace, and says for an empty one that nothing was examined', async () => {
    const refused = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('there is no namespace shp; did you') as string,
    };
    expect(await shop.run('doctor', '-n', 'shp')).toEqual(refused);
    expect(await shop.run('prove', '-n', 'shp')).toEqual(refused);
    expect(await shop.run('prove', 'shp/pr-7')).toEqual(refused);
    expect(await shop.run('plan', '-n', 'shp')).toEqual(refused);
    expect(await shop.run('env', 'list', '-n', 'shp')).toMatchObject({ code: 0 });
    const { stdout } = await shop.run('doctor', '-n', 'default');
    expect(stdout).toMatch(/^0 workloads with a Service: nothing was examined\.$|0 workloads.*1 note/m);
  });

  test('reports on the workloads of the namespace, errors first', async () => {
    const { code, stdout, stderr } = await shop.run('doctor', '-o', 'json');
    expect([code, stderr]).toEqual([1, '']);
    const { workloads, findings } = JSON.parse(stdout) as Diagnosis;
    expect(workloads).toBe(2);
    expect(findings.map(({ severity, reason, object }) => `${severity} ${reason} ${object}`)).toEqual([
      'error NoDestinationRule shop/pay',
      'error NoVirtualService shop/pay',
      'warning PortWithoutProtocol shop/cart',
      'warning PortWithoutProtocol shop/pay',
      'note NoMesh *',
    ]);
    expect(findings.at(-1)!.message).toBe(
      'this is the embedded cluster, with the kinds of Istio: its pods are simulated, and no requests are sent or routed',
    );
  });

  test('reports what environments left behind that are gone, and what to do', async () => {
    const labels = { version: 'shop-pr-7' };
    const ruleNamed = (name: string) => ({
      apiVersion: 'networking.istio.io/v1beta1',
      kind: 'DestinationRule',
      metadata: {
        name,
        namespace: 'shop',
        labels,
        annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' },
      },
      spec: { host: 'cart', subsets: [{ name: 'shop-pr-7', labels }] },
    });
    const made = ruleNamed('cart-shop-pr-7-cart');
    const as = { fieldManager: 'offshoot-environments' };
    await shop.client.patch(DestinationRule, made.metadata, { type: 'apply', body: made }, as);
    await shop.client.create(DestinationRule, ruleNamed('by-hand-shop-pr-7-cart'));
    const { stdout, stderr } = await shop.run('doctor');
    expect(stderr).toBe('');
    expect(stdout)
      .toContain(`warning: DestinationRule shop/cart-shop-pr-7-cart: environment shop/pr-7, which it was made for, is gone: its finalizers did not run
    the controllers remove it 10 minutes after they first see it; with --remove-orphans=false or --namespaces, remove it yourself, routes before rules and clones
`);
    expect(stdout)
      .toContain(`note: DestinationRule shop/by-hand-shop-pr-7-cart: its annotation names environment shop/pr-7, which does not exist, but the controllers keep it: its managedFields do not say that Offshoot applied it
    delete it if nobody needs it, or else remove its annotation riskified.com/dynamic-environment
`);
    const env = {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name: 'pr-7', namespace: 'shop' },
      spec: { key: 'pr-7', subsets: [] },
    };
    await shop.client.create(DynamicEnv, env);
    expect((await shop.run('doctor')).stdout).not.toContain('cart-shop-pr-7-cart');
  });
});
