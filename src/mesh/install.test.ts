// What an installation writes, keeps and leaves alone, tested on an API server.
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { Istio } from '../api/istio.ts';
import { defineKind } from '../kube/index.ts';
import type { AnyObject, Kind } from '../kube/index.ts';
import { UNINSTALLED_KINDS } from './deletion/uninstall.ts';
import { builtinRenderer, renderBuiltin } from './installation/render/builtin/builtin.ts';
import { RenderError } from './installation/render/renderer.ts';
import { INGRESS_GATEWAY, LAST_APPLIED, RESTARTED_AT, UPDATED_AT } from './names.ts';
import { ConfigMap, DaemonSet, Deployment, Namespace } from '../../test/support/core-kinds.ts';
import { descriptionAndReason, startMesh } from '../../test/support/running-mesh.ts';
import type { RunningMesh } from '../../test/support/running-mesh.ts';

const NetworkPolicy = defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
const EnvoyFilter = defineKind('networking.istio.io/v1alpha3', 'EnvoyFilter', 'envoyfilters');
const PeerAuthentication = defineKind('security.istio.io/v1', 'PeerAuthentication', 'peerauthentications');
const Service = defineKind('v1', 'Service', 'services');
const Webhooks = defineKind(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  'mutatingwebhookconfigurations',
  { namespaced: false },
);

const inIstio = (name: string) => ({ namespace: 'istio-system', name });
const ISTIOD = inIstio('istiod');
const GATEWAY = inIstio(INGRESS_GATEWAY);

let running: RunningMesh | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
const start = async (...options: Parameters<typeof startMesh>): Promise<RunningMesh> =>
  (running = await startMesh(...options));

/** A mesh that is ready and whose controllers are idle. */
async function ready(...options: Parameters<typeof startMesh>): Promise<RunningMesh> {
  const mesh = await start(...options);
  await mesh.create();
  await mesh.inState('Ready');
  await mesh.idle();
  return mesh;
}

const applied = async (mesh: RunningMesh): Promise<string | undefined> =>
  (await mesh.istio())?.metadata.annotations?.[LAST_APPLIED];

const template = (workload: AnyObject | undefined) =>
  (workload!['spec'] as { template: { metadata: AnyObject['metadata']; spec: object } }).template;

const restartedAt = async (mesh: RunningMesh, kind: typeof Deployment, ref: typeof ISTIOD) =>
  template(await mesh.find(kind, ref)).metadata.annotations?.[RESTARTED_AT];

describe('an installation', () => {
  test('writes nothing when nothing differs', async () => {
    const mesh = await ready();
    const before = mesh.writes;
    await mesh.change({ metadata: { labels: { touched: 'true' } } });
    await mesh.idle();
    expect(mesh.writes).toBe(before);
  });

  test('is not changed when the controllers restart', async () => {
    const mesh = await ready();
    const versions = async (): Promise<string[]> => {
      const lists = await Promise.all(
        [Istio as Kind, ...UNINSTALLED_KINDS].map((kind) => mesh.client.list(kind).catch(() => ({ items: [] }))),
      );
      return lists
        .flatMap(({ items }) => items as AnyObject[])
        .map(({ kind, metadata: { name, resourceVersion } }) => `${kind} ${name} ${resourceVersion}`);
    };
    const before = await versions();
    await mesh.start();
    await mesh.idle();
    expect(await versions()).toEqual(before);
  });

  test('reverts drift of objects, fields and labels', async () => {
    const mesh = await ready();
    const reverts = async (how: () => Promise<unknown>, isReverted: () => Promise<boolean>): Promise<void> => {
      await how();
      await until(isReverted);
    };
    await reverts(
      () => mesh.client.delete(Deployment, GATEWAY),
      async () => (await mesh.find(Deployment, GATEWAY)) !== undefined,
    );
    const body = { data: { mesh: 'trustDomain: theirs' } };
    await reverts(
      () => mesh.client.patch(ConfigMap, inIstio('istio'), { type: 'merge', body }),
      async () => !JSON.stringify(await mesh.find(ConfigMap, inIstio('istio'))).includes('theirs'),
    );
    await reverts(
      () => mesh.client.delete(PeerAuthentication, inIstio('default')),
      async () => (await mesh.find(PeerAuthentication, inIstio('default'))) !== undefined,
    );
    const unlabelled = { metadata: { labels: { 'operator.istio.io/component': null } } };
    await reverts(
      () => mesh.client.patch(Service, ISTIOD, { type: 'merge', body: unlabelled }),
      async () => (await mesh.find(Service, ISTIOD))?.metadata.labels?.['operator.istio.io/component'] === 'Pilot',
    );
    expect((await mesh.inState('Ready')).status?.istioVersion).toBe('1.31.0');
  });

  test('waits without an error while its namespace is being deleted, and is then recreated', async () => {
    const mesh = await ready();
    const held = inIstio('held');
    const metadata = { ...held, finalizers: ['example.org/held'] };
    await mesh.client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await mesh.client.delete(Namespace, { name: 'istio-system' });
    const said = async () => (await mesh.istio())?.status?.description ?? '';
    await until(async () => (await said()).includes('Namespace istio-system is being deleted'), 20_000, said);
    await mesh.idle();
    expect((await mesh.inState('Processing')).status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Reconciling', status: 'True' }),
    );
    await mesh.client.patch(ConfigMap, held, { type: 'merge', body: { metadata: { finalizers: [] } } });
    await mesh.inState('Ready');
    expect(await mesh.find(Deployment, ISTIOD)).toBeDefined();
    // Log lines about refused writes are short.
    expect(mesh.lines.filter((line) => line.length > 1_000)).toEqual([]);
  });

  test('never owns replicas, caBundle, or fields that others added', async () => {
    const mesh = await ready();
    const merge = (body: object) => ({ type: 'merge', body }) as const;
    await mesh.client.patch(Deployment, ISTIOD, merge({ spec: { replicas: 3 }, metadata: { labels: { team: 'a' } } }));
    const webhook = (await mesh.client.get(Webhooks, { name: 'istio-sidecar-injector' })) as AnyObject & {
      webhooks: { name: string; clientConfig: object }[];
    };
    const webhooks = webhook.webhooks.map((each) => ({
      ...each,
      clientConfig: { ...each.clientConfig, caBundle: 'Y2E=' },
    }));
    await mesh.client.patch(Webhooks, webhook.metadata, merge({ webhooks }));
    await mesh.change({ spec: { components: { pilot: { k8s: { resources: { limits: { cpu: '1500m' } } } } } } });
    await mesh.inState('Ready');
    await mesh.idle();
    expect(await mesh.find(Deployment, ISTIOD)).toMatchObject({
      spec: { replicas: 3 },
      metadata: { labels: { team: 'a', 'operator.istio.io/managed': 'Reconcile' } },
    });
    expect(JSON.stringify(await mesh.find(Webhooks, webhook.metadata))).toContain('"caBundle":"Y2E="');
  });

  test('removes objects that are no longer rendered, and nothing of others', async () => {
    const mesh = await start();
    await mesh.create({ components: { egressGateway: { enabled: true } } });
    await mesh.inState('Ready');
    const theirs = inIstio('istio-egressgateway-theirs');
    await mesh.client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...theirs, labels: { 'operator.istio.io/component': 'EgressGateways' } },
      spec: { ports: [{ port: 80 }] },
    });
    expect(await mesh.find(Deployment, inIstio('istio-egressgateway'))).toBeDefined();
    await mesh.change({ spec: { components: { egressGateway: { enabled: false } } } });
    await until(async () => (await mesh.find(Deployment, inIstio('istio-egressgateway'))) === undefined);
    await mesh.inState('Ready');
    await mesh.idle();
    expect(await mesh.find(Service, inIstio('istio-egressgateway'))).toBeUndefined();
    expect(await mesh.find(Service, theirs)).toBeDefined();
  });

  test('upgrades component by component, so that a gateway is never newer than istiod', async () => {
    const mesh = await ready({ istioVersion: '1.30.0' });
    const newer: string[] = [];
    const ending = new AbortController();
    const { resourceVersion } = await mesh.client.list(Deployment, { namespace: 'istio-system' });
    const watch = mesh.client
      .watch(Deployment, { namespace: 'istio-system', resourceVersion, signal: ending.signal }, ({ object }) => {
        const { name } = (object as AnyObject).metadata;
        const text = JSON.stringify(template(object as AnyObject).spec);
        if (text.includes('1.31.0') && newer.at(-1) !== name) newer.push(name);
      })
      .catch(() => undefined);
    await mesh.start({ istioVersion: '1.31.0' });
    await until(async () => (await mesh.istio())?.status?.istioVersion === '1.31.0', 20_000);
    await mesh.inState('Ready');
    ending.abort();
    await watch;
    expect([...new Set(newer)]).toEqual(['istiod', INGRESS_GATEWAY]);
    expect(await applied(mesh)).toBe('{"config":{},"IstioTag":"1.31.0-distroless"}');
  });

  test('reports a write that the server refuses with its message, and continues with the rest', async () => {
    const mesh = await start();
    await mesh.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'istio-system' } });
    const labels = { app: 'theirs' };
    await mesh.client.create(DaemonSet, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: inIstio('istio-cni-node'),
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      },
    });
    await mesh.create();
    const [description, reason] = descriptionAndReason(await mesh.inState('Error'));
    expect(description).toMatch(
      /^Could not install Istio: DaemonSet istio-system\/istio-cni-node: .*field is immutable/,
    );
    expect(reason).toBe('IstioInstallUninstallFailed');
    await until(async () => (await mesh.find(Deployment, GATEWAY)) !== undefined);
    await mesh.client.delete(DaemonSet, inIstio('istio-cni-node'));
    await mesh.inState('Ready');
  });
});

describe('a renderer', () => {
  const broken = (render: () => Promise<never>) => ({ name: 'broken', render });

  test('that fails leaves the running mesh alone', async () => {
    const mesh = await ready();
    const istiod = await mesh.find(Deployment, ISTIOD);
    const complaint = 'istioctl could not render manifests: it is not installed';
    await mesh.start({ renderer: broken(() => Promise.reject(new RenderError(complaint))) });
    expect(descriptionAndReason(await mesh.inState('Error'))).toEqual([
      `Could not install Istio: ${complaint}`,
      'IstioInstallUninstallFailed',
    ]);
    await mesh.idle();
    expect((await mesh.find(Deployment, ISTIOD))?.metadata.resourceVersion).toBe(istiod?.metadata.resourceVersion);
    await mesh.start();
    await mesh.inState('Ready');
  });

  test('that hangs leaves the running mesh alone, and delays a change', async () => {
    const mesh = await ready();
    const istiod = await mesh.find(Deployment, ISTIOD);
    const before = mesh.writes;
    await mesh.start({ renderer: broken(() => new Promise<never>(() => undefined)) });
    await mesh.idle();
    expect(mesh.writes).toBe(before);
    await mesh.change({ spec: { components: { pilot: { k8s: { resources: { limits: { cpu: '1500m' } } } } } } });
    expect((await mesh.inState('Processing')).status?.description).toBe('Reconciling Istio: rendering the manifests');
    expect((await mesh.find(Deployment, ISTIOD))?.metadata.resourceVersion).toBe(istiod?.metadata.resourceVersion);
  });

  test('that fails for a change keeps the previous manifests, which still revert drift', async () => {
    let isBroken = false;
    const mesh = await ready({
      renderer: {
        name: 'moody',
        render: async (operator) => {
          if (isBroken) throw new RenderError('not now');
          return renderBuiltin(operator);
        },
      },
    });
    isBroken = true;
    await mesh.change({ spec: { components: { pilot: { k8s: { resources: { limits: { cpu: '1500m' } } } } } } });
    expect(descriptionAndReason(await mesh.inState('Error'))[0]).toBe('Could not install Istio: not now');
    await mesh.client.delete(Deployment, GATEWAY);
    await until(async () => (await mesh.find(Deployment, GATEWAY)) !== undefined);
    expect(JSON.stringify(await mesh.find(Deployment, ISTIOD))).not.toContain('1500m');
    isBroken = false;
    await until(async () => JSON.stringify(await mesh.find(Deployment, ISTIOD)).includes('1500m'));
    await mesh.inState('Ready');
  });

  test('renders equal input once', async () => {
    let count = 0;
    const mesh = await ready({
      renderer: {
        name: 'counting',
        render: (operator) => {
          count++;
          return builtinRenderer.render(operator);
        },
      },
    });
    await mesh.client.delete(Deployment, GATEWAY);
    await mesh.change({ metadata: { labels: { touched: 'true' } } });
    await mesh.idle();
    await mesh.inState('Ready');
    // Once to warm up, before there was a resource.
    expect(count).toBe(1);
  });
});

describe('the annotation lastAppliedConfiguration', () => {
  test('has the whole spec after the first installation, as new gateways need no restart', async () => {
    const mesh = await start();
    await mesh.create({ config: { numTrustedProxies: 1 }, networkPoliciesEnabled: true });
    await mesh.inState('Ready');
    await mesh.idle();
    expect(await applied(mesh)).toBe(
      '{"config":{"numTrustedProxies":1},"networkPoliciesEnabled":true,"IstioTag":"1.31.0-distroless"}',
    );
    expect(await restartedAt(mesh, Deployment, GATEWAY)).toBeUndefined();
    expect(await restartedAt(mesh, Deployment, ISTIOD)).toBeUndefined();
  });

  test('has a changed setting once the gateway runs with it', async () => {
    const mesh = await ready();
    await mesh.change({ spec: { config: { numTrustedProxies: 2 } } });
    await until(async () => (await applied(mesh))?.includes('"numTrustedProxies":2') === true, 20_000);
    expect(await restartedAt(mesh, Deployment, GATEWAY)).toBeDefined();
    await mesh.inState('Ready');
  });
});

describe('additional resources', () => {
  test('include NetworkPolicies if enabled, and each change restarts the control plane once', async () => {
    const mesh = await ready();
    const policies = async () => (await mesh.client.list(NetworkPolicy)).items.length;
    const restartTimes = async () => [
      await restartedAt(mesh, Deployment, ISTIOD),
      await restartedAt(mesh, DaemonSet, inIstio('istio-cni-node')),
    ];
    expect([await policies(), await restartTimes()]).toEqual([0, [undefined, undefined]]);
    await mesh.change({ spec: { networkPoliciesEnabled: true } });
    await until(async () => (await applied(mesh))?.includes('networkPoliciesEnabled') === true, 20_000);
    await mesh.inState('Ready');
    await mesh.idle();
    expect(await policies()).toBe(7);
    const on = await restartTimes();
    expect(on).toEqual([expect.any(String), expect.any(String)]);
    await mesh.change({ metadata: { labels: { touched: 'true' } } });
    await mesh.idle();
    expect(await restartTimes()).toEqual(on);
    await mesh.change({ spec: { networkPoliciesEnabled: false } });
    await until(async () => (await policies()) === 0);
  });

  test('include EnvoyFilters with the time of their last change', async () => {
    const mesh = await ready({ istioVersion: '1.20.0' });
    const filter = () => mesh.client.get(EnvoyFilter, inIstio('kyma-referer'));
    const first = (await filter()).metadata.annotations?.[UPDATED_AT];
    expect(first).toMatch(/^\d{4}-.*\dZ$/);
    const before = mesh.writes;
    await mesh.change({ metadata: { labels: { touched: 'true' } } });
    await mesh.idle();
    expect([(await filter()).metadata.annotations?.[UPDATED_AT], mesh.writes]).toEqual([first, before]);
  });

  test("warn about a user's EnvoyFilter for the gateway for as long as it exists", async () => {
    const mesh = await ready();
    const conditionOf = async () =>
      (await mesh.istio())?.status?.conditions?.find(({ type }) => type === 'IngressTargetingUserResourceFound');
    expect(await conditionOf()).toMatchObject({ status: 'False' });
    await mesh.client.create(EnvoyFilter, {
      apiVersion: 'networking.istio.io/v1alpha3',
      kind: 'EnvoyFilter',
      metadata: inIstio('mine'),
      spec: { workloadSelector: { labels: { istio: 'ingressgateway' } } },
    });
    expect((await mesh.inState('Warning')).status?.description).toBe(
      'misconfigured EnvoyFilter can potentially break Istio Ingress Gateway: user-created EnvoyFilter istio-system/mine targeting Ingress Gateway found',
    );
    expect(await conditionOf()).toMatchObject({ status: 'True' });
    await mesh.client.delete(EnvoyFilter, inIstio('mine'));
    await mesh.inState('Ready');
    expect(await conditionOf()).toMatchObject({ status: 'False' });
  });

  test('warn about features that cannot be read, which count as off', async () => {
    const mesh = await start();
    const features = { namespace: 'kyma-system', name: 'istio-features' };
    await mesh.client.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: features,
      data: { features: '{' },
    });
    await mesh.create();
    expect((await mesh.inState('Warning')).status?.description).toMatch(
      /^Could not read the features of Istio: key features of ConfigMap kyma-system\/istio-features can't be read: /,
    );
    await mesh.client.delete(ConfigMap, features);
    await mesh.inState('Ready');
  });
});
