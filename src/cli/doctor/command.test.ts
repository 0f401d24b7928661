// `offshoot doctor` as people run it: a process of its own, on manifests and on a cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../environments/index.ts';
import { runnerFor } from '../testing/offshoot-process.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');

describe('on manifests, without a cluster', () => {
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
  ])('the example %s is in order', async (namespace, workloads) => {
    const told = {
      code: 0,
      stderr: '',
      stdout: `${workloads} with a Service: nothing keeps environments from working.\n`,
    };
    const world = path.join(EXAMPLES, `${namespace}.yaml`);
    expect(await doctor('-A', '--world', world)).toEqual(told);
    expect(await doctor('-n', namespace, '--world', world)).toEqual(told);
  });

  test('an error ends with 1, and says what to do', async () => {
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

  test('what cannot be read is refused by the name of the flag', async () => {
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

describe('on a cluster', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ controller: false });
    await shop.deploy('cart');
    await shop.deploy('pay', { mesh: false });
  }, 60_000);
  afterAll(() => shop.stop());

  test('a namespace that does not exist is an error; an empty one is not in order, but not examined', async () => {
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

  test('workloads of the namespace, the worst first', async () => {
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
      'this is the embedded cluster, with the kinds of Istio: its pods are simulated, and nobody sends or leads requests',
    );
  });
});
