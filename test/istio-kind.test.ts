// Validation of the Istio resource by an API server: what existing manifests rely on, and which fields are rejected.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { CustomResourceDefinition } from './support/core-kinds.ts';
import { until } from './support/until.ts';
import { describeClusters } from './cluster/index.ts';
import { defineKind } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { Istio, istio } from '../src/api/istio.ts';
import type { IstioSpec } from '../src/api/istio.ts';

const OlderIstio = defineKind<Istio>('operator.kyma-project.io/v1alpha1', 'Istio', 'istios');
const example = parse(readFileSync(path.join(import.meta.dirname, '../examples/istio.yaml'), 'utf8')) as Istio;

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: unknown;
  readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
}
const { versions } = istio.crd['spec'] as { readonly versions: readonly Version[] };

test('both versions are served with one schema, and v1alpha2 is stored', () => {
  expect(versions.map(({ name, served, storage }) => ({ name, served, storage }))).toEqual([
    { name: 'v1alpha2', served: true, storage: true },
    { name: 'v1alpha1', served: true, storage: false },
  ]);
  expect(versions[1]!.schema).toEqual(versions[0]!.schema);
});

test('the column State shows the state', () => {
  expect(versions[0]!.additionalPrinterColumns[0]).toEqual({
    name: 'State',
    type: 'string',
    jsonPath: '.status.state',
  });
});

describeClusters('the Istio resource', (cluster) => {
  let client: Client;
  let namespace: string;
  let made = 0;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('istio');
    await client.patch(
      CustomResourceDefinition,
      istio.crd.metadata,
      { type: 'apply', body: istio.crd, force: true },
      { fieldManager: 'test' },
    );
    await until(() =>
      client.list(Istio).then(
        () => true,
        () => false,
      ),
    );
  });

  const create = (spec: unknown): Promise<Istio> => {
    const metadata = { name: `istio-${++made}`, namespace };
    return client.create(Istio, { ...example, metadata, spec: spec as IstioSpec });
  };
  const workload = (k8s: unknown) => ({ components: { pilot: { k8s } } });
  const surge = (rollingUpdate: unknown) => workload({ strategy: { rollingUpdate } });

  test('keeps the fields of the example', async () => {
    expect((await create(example.spec)).spec).toEqual(example.spec);
  });

  test('may have no spec', async () => {
    const { spec: _, ...bare } = example;
    const metadata = { name: 'bare', namespace };
    expect((await client.create(Istio, { ...bare, metadata })).metadata.name).toBe('bare');
  });

  test('has columns for state, version of Istio and age, in both API versions', async () => {
    const metadata = { name: 'columns', namespace };
    await client.create(Istio, { ...example, metadata });
    const status = { state: 'Ready', istioVersion: '1.31.0' };
    await client.patch(Istio, metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
    for (const { name } of versions) {
      const { columnDefinitions, rows } = await client.raw<{
        readonly columnDefinitions: readonly { readonly name: string }[];
        readonly rows: readonly { readonly cells: readonly unknown[] }[];
      }>({
        path: `/apis/operator.kyma-project.io/${name}/namespaces/${namespace}/istios/columns`,
        accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
      });
      expect(columnDefinitions.map((each) => each.name)).toEqual(['Name', 'State', 'Version', 'Age']);
      expect(rows[0]!.cells.slice(0, 3)).toEqual(['columns', 'Ready', '1.31.0']);
    }
  });

  test('is read as v1alpha2 after it was written as v1alpha1', async () => {
    const metadata = { name: 'older', namespace };
    await client.create(OlderIstio, { ...example, apiVersion: 'operator.kyma-project.io/v1alpha1', metadata });
    const read = await client.get(Istio, metadata);
    expect(read.apiVersion).toBe('operator.kyma-project.io/v1alpha2');
    expect(read.spec).toEqual(example.spec);
  });

  test('keeps every field', async () => {
    const resources = { limits: { cpu: '1.5', memory: '1e9' }, requests: { cpu: '15m', memory: '200Mi' } };
    const k8s = {
      hpaSpec: { minReplicas: 0, maxReplicas: 2_147_483_647 },
      strategy: { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
      resources,
    };
    const term = { labelSelector: { matchLabels: { app: 'x' } }, topologyKey: 'kubernetes.io/hostname' };
    const node = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] };
    const spec: IstioSpec = {
      config: {
        numTrustedProxies: 4_294_967_295,
        forwardClientCertDetails: 'APPEND_FORWARD',
        authorizers: [
          {
            name: 'a',
            service: 'authz.default.svc.cluster.local',
            port: 8000,
            pathPrefix: '/check',
            timeout: '1s',
            headers: {
              inCheck: { include: ['x'], add: { y: 'z' } },
              toUpstream: { onAllow: ['a'] },
              toDownstream: { onAllow: ['b'], onDeny: ['c'] },
            },
          },
        ],
        gatewayExternalTrafficPolicy: 'Local',
        telemetry: { metrics: { prometheusMerge: true } },
        trustDomain: 'my_domain.example-1.org',
        enableDNSProxying: false,
        proxyStatsMatcher: { inclusionRegexps: ['cluster\\..*'] },
      },
      components: {
        pilot: { k8s },
        ingressGateway: { k8s },
        egressGateway: { enabled: true, k8s },
        cni: {
          k8s: {
            resources,
            affinity: {
              nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [node] } },
              podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
              podAntiAffinity: {
                preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }],
              },
            },
          },
        },
        proxy: { k8s: { resources } },
      },
      experimental: {
        pilot: { enableAlphaGatewayAPI: true, enableMultiNetworkDiscoverGatewayAPI: false },
        enableAmbient: true,
        enableDualStack: false,
      },
      compatibilityMode: true,
      networkPoliciesEnabled: true,
    };
    expect((await create(spec)).spec).toEqual(spec);
  });

  test.each([
    ['spec.config.numTrustedProxies', { config: { numTrustedProxies: -1 } }],
    ['spec.config.numTrustedProxies', { config: { numTrustedProxies: 4_294_967_296 } }],
    ['spec.config.forwardClientCertDetails', { config: { forwardClientCertDetails: 'FORWARD' } }],
    ['spec.config.authorizers[0].port', { config: { authorizers: [{ name: 'a' }] } }],
    ['spec.config.gatewayExternalTrafficPolicy', { config: { gatewayExternalTrafficPolicy: 'local' } }],
    ['spec.config.trustDomain', { config: { trustDomain: '' } }],
    ['spec.config.trustDomain', { config: { trustDomain: 'Upper' } }],
    ['spec.components.pilot.k8s', { components: { pilot: {} } }],
    ['spec.components.cni.k8s', { components: { cni: {} } }],
    ['spec.components.pilot.k8s.hpaSpec.minReplicas', workload({ hpaSpec: { minReplicas: -1 } })],
    ['spec.components.pilot.k8s.hpaSpec.maxReplicas', workload({ hpaSpec: { maxReplicas: 2_147_483_648 } })],
    ['spec.components.pilot.k8s.strategy.rollingUpdate', workload({ strategy: {} })],
    ['spec.components.pilot.k8s.strategy.rollingUpdate.maxSurge', surge({ maxSurge: '-1' })],
    ['must not be negative, more than 2147483647 or an empty string', surge({ maxSurge: -1 })],
    ['spec.components.pilot.k8s.strategy.rollingUpdate.maxUnavailable', surge({ maxUnavailable: '101%' })],
    ['spec.components.pilot.k8s.resources.limits.cpu', workload({ resources: { limits: { cpu: '10.5' } } })],
    ['spec.components.pilot.k8s.resources.requests.memory', workload({ resources: { requests: { memory: '1mi' } } })],
  ])('is rejected with an invalid %s: %j', async (field, spec) => {
    await expect(create(spec)).rejects.toThrow(field);
  });

  test('needs a known state in its status', async () => {
    const { metadata } = await create({});
    const writeStatus = (status: unknown): Promise<Istio> =>
      client.patch(Istio, metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
    await expect(writeStatus({ description: 'x' })).rejects.toThrow('status.state');
    await expect(writeStatus({ state: 'Fine' })).rejects.toThrow('status.state');
    const status = {
      state: 'Warning',
      description: 'blocked',
      observedGeneration: 1,
      istioVersion: '1.31.0',
      clusterSize: 'Evaluation',
      blockedBy: { total: 1, resources: [{ kind: 'VirtualService', namespace: 'a', name: 'b' }] },
      restarts: {
        total: 2,
        restarting: 1,
        workloads: [{ kind: 'Deployment', namespace: 'a', name: 'b', why: 'w', waiting: 'x' }],
      },
    };
    expect((await writeStatus(status)).status).toEqual(status);
  });
});
