// The whole lifecycle of a real Istio on a real node, managed by one resource: the real istioctl renders, istiod and
// the gateway run as pods, sidecars are injected. An upgrade installs the same programs under another tag and version.
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../../src/api/istio.ts';
import { installDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { EXCLUDED, istioctlRenderer, istioTag, mesh, MODULE_NAMESPACE } from '../../src/mesh/index.ts';
import { istioVersion } from '../programs/istio.ts';
import { until } from '../support/until.ts';
import { toolboxImage } from './addresses.ts';
import { everything } from './everything.ts';
import { describeOwnNode } from './index.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { hub, writeIstioctl } from './mesh.ts';
import {
  customerRoutes,
  insideMesh,
  leftAlone,
  makeWorkloads,
  outside,
  restarted,
  rolledOut,
  shop,
  throughGateway,
} from './mesh-workloads.ts';
import { watchRollouts } from './rollouts.ts';
import { underLoad } from './shop.ts';

const next = istioVersion.replace(/\.(\d+)\.\d+$/, (_all, minor: string) => `.${Number(minor) + 1}.0`);
const image = (version: string): string => `${hub}/proxyv2:${istioTag(version)}`;
const batchSize = 2;
/** Requests per second, on each of two paths. */
const rate = 250;
const resource = { namespace: MODULE_NAMESPACE, name: 'default' };
const tags = [istioVersion, next].map((version) => istioTag(version));

describeOwnNode('the lifecycle of a mesh', { istioTags: tags }, (node) => {
  let kubectl: Kubectl;
  let client: Client;
  let manager: Manager | undefined;
  let before: readonly string[];

  beforeAll(async () => {
    ({ kubectl } = node());
    client = connect(loadConfig({ path: node().kubeconfigPath }));
    await installDefinitions(client, partsOf(['mesh']));
    // The CNI plugin would write to folders of the machine itself.
    const features = { features: JSON.stringify({ disableCni: true }) };
    await apply(kubectl, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: MODULE_NAMESPACE } });
    await apply(kubectl, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'istio-features', namespace: MODULE_NAMESPACE },
      data: features,
    });
    before = await everything(kubectl);
  }, 240_000);
  afterAll(async () => {
    await manager?.stop();
    client.close();
  });

  /** Replaces the controllers by a release of Offshoot that installs this version. */
  async function release(version: string): Promise<void> {
    await manager?.stop();
    const program = path.join(node().dir, `istioctl-${version}`);
    writeIstioctl(program, version);
    const controllers = mesh({ istioVersion: version, hub, batchSize, renderer: istioctlRenderer({ program }) });
    manager = new Manager({ client, controllers, logger: createLogger({ level: 'error' }) });
    await manager.start();
  }

  const istio = async (): Promise<Istio> => client.get(Istio, resource);
  const ready = async (version: string): Promise<boolean> => {
    const { state, istioVersion: running } = (await istio()).status ?? {};
    return state === 'Ready' && running === version;
  };
  /** The pods of a namespace as `app image image …`. Sidecars are init containers that keep running. */
  const podsOf = async (namespace: string): Promise<readonly string[]> => {
    const images = '{.spec.containers[*].image} {.spec.initContainers[*].image}';
    const line = `{range .items[*]}{.metadata.labels.app} ${images}{"\\n"}{end}`;
    const lines = await kubectl(['get', 'pods', '-n', namespace, '-o', `jsonpath=${line}`]);
    return lines.split('\n').flatMap((each) => (each === '' ? [] : [each.trim()]));
  };
  /** Whether no pod is terminating. */
  const settled = async (namespace: string): Promise<boolean> => {
    const line = '{.items[*].metadata.deletionTimestamp}';
    return (await kubectl(['get', 'pods', '-n', namespace, '-o', `jsonpath=${line}`])) === '';
  };
  const ask = ({ namespace, url }: { namespace: string; url: string }): Promise<string> =>
    kubectl(['exec', '-n', namespace, 'deploy/caller', '-c', 'caller', '--', 'toolbox', 'get', url]);
  const answers = (way: { namespace: string; url: string }): Promise<boolean> =>
    ask(way).then(
      () => true,
      () => false,
    );

  test('a resource installs Istio, and workloads get sidecars with mutual TLS', async () => {
    await release(istioVersion);
    await apply(kubectl, { apiVersion: 'operator.kyma-project.io/v1alpha2', kind: 'Istio', metadata: resource });
    await until(() => ready(istioVersion), 90_000);
    await makeWorkloads(kubectl, image(istioVersion));
    await apply(kubectl, ...customerRoutes);
    const pods = await podsOf(shop);
    expect(pods.filter((pod) => !pod.includes(image(istioVersion)))).toEqual([]);
    expect(await podsOf(outside)).toEqual([`caller ${toolboxImage}`]);
    await until(() => answers(throughGateway), 30_000);
    // The identity of the caller comes from its certificate.
    expect(await ask(insideMesh)).toContain(`spiffe://cluster.local/ns/${shop}/sa/default`);
    await expect(ask({ namespace: outside, url: `http://store.${shop}:8080/` })).rejects.toThrow(/reset|EOF|refused/);
  }, 240_000);

  test('an upgrade under load restarts only the outdated workloads, in batches, and no request fails', async () => {
    const upgrade = (async () => {
      await release(next);
      await until(() => ready(next), 180_000);
      for (const namespace of [shop, 'istio-system']) await until(() => settled(namespace), 60_000);
    })();
    const [rollouts, fromOutside, inside] = await Promise.all([
      watchRollouts(client, shop, upgrade),
      underLoad(kubectl, { ...throughGateway, rate }, upgrade),
      underLoad(kubectl, { ...insideMesh, rate }, upgrade),
      upgrade,
    ]);
    process.stderr.write(`real node: ${fromOutside.sent + inside.sent} requests while Istio was upgraded\n`);
    expect([...fromOutside.failures, ...inside.failures]).toEqual([]);
    expect(fromOutside.sent + inside.sent).toBeGreaterThan(10 * rate);
    expect(rollouts.changes).toEqual(Object.fromEntries(restarted.map((name) => [name, 1])));
    expect(rollouts.most).toBeLessThanOrEqual(batchSize);
    for (const name of restarted) await rolledOut(kubectl, shop, name);
    const left = new Set(leftAlone.map((name) => name.replace(/.*\//, '')));
    for (const pod of await podsOf(shop))
      expect(pod).toContain(image(left.has(pod.split(' ')[0]!) ? istioVersion : next));
  }, 300_000);

  test('deletion waits for objects of customers, and then removes all of Istio', async () => {
    // A workload that is no longer excluded is restarted as well.
    await kubectl(['annotate', '-n', shop, 'deployment/caller', `${EXCLUDED}-`]);
    await until(
      async () => (await podsOf(shop)).some((pod) => pod.startsWith('caller') && pod.includes(image(next))),
      60_000,
    );
    await rolledOut(kubectl, shop, 'deployment/caller');
    await kubectl(['delete', 'istio', '-n', MODULE_NAMESPACE, resource.name, '--wait=false']);
    await until(async () => (await istio()).status?.state === 'Warning', 30_000);
    expect((await istio()).status?.blockedBy?.resources).toEqual([
      { kind: 'Gateway', namespace: shop, name: 'door' },
      { kind: 'VirtualService', namespace: shop, name: 'cart' },
    ]);
    expect(await answers(throughGateway)).toBe(true);
    for (const { kind, metadata } of customerRoutes)
      await kubectl(['delete', `${kind.toLowerCase()}.networking.istio.io`, '-n', shop, metadata.name]);
    await kubectl(['wait', '--for=delete', '-n', MODULE_NAMESPACE, `istio/${resource.name}`, '--timeout=120s']);
    await kubectl(['wait', '--for=delete', 'namespace/istio-system', '--timeout=60s']);
    for (const name of [...restarted, ...leftAlone]) await rolledOut(kubectl, shop, name);
    await until(() => settled(shop), 60_000);
    for (const pod of await podsOf(shop)) expect(pod).toMatch(new RegExp(`^\\w+ ${toolboxImage}$`));
    expect(await answers(insideMesh)).toBe(true);
    const ours = (object: string): boolean =>
      new RegExp(` (${shop}|${outside})/|^Namespace /(${shop}|${outside})$`).test(object);
    const found = await everything(kubectl);
    expect(found.filter((object) => !ours(object))).toEqual(before);
    expect(found.filter((object) => ours(object) && /istio/i.test(object))).toEqual([]);
  }, 300_000);
});
