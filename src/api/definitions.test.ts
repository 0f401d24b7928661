// The CustomResourceDefinitions that we install: valid for any API server, documented, compatible with existing
// manifests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { until } from '../../test/support/until.ts';
import { definitionProblems } from '../embedded/crd/index.ts';
import { startEmbedded } from '../embedded/index.ts';
import type { Embedded } from '../embedded/index.ts';
import type { ApiObject } from '../embedded/resource.ts';
import { defineKind, parseJson } from '../kube/index.ts';
import type { AnyKind, AnyObject, Client } from '../kube/index.ts';
import { DynamicEnv, dynamicEnv } from './dynamicenv.ts';
import { istio } from './istio.ts';
import * as routing from './routing.ts';
import * as spaces from './spaces.ts';
import * as targets from './targets.ts';
import { Upstream, upstream } from './upstream.ts';
import { connectAdmin } from '../../test/support/connect-admin.ts';

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node;
}

const modules = [spaces, targets, routing].flatMap((module): object[] => Object.values(module));
const definitions: readonly AnyObject[] = [dynamicEnv, ...modules, upstream, istio].flatMap((each) =>
  'crd' in each ? [each.crd as AnyObject] : [],
);
const named = definitions.map((definition) => [definition.metadata.name, definition] as const);

function schemaOf(definition: AnyObject): Node {
  const { versions } = definition['spec'] as { versions: { schema: { openAPIV3Schema: Node } }[] };
  return versions[0]!.schema.openAPIV3Schema;
}

/** Every node of a schema by its path: `spec.subsets[].name`, `status.subsetsStatus{}.hash`. */
function nodes(node: Node, path = ''): [string, Node][] {
  return [
    [path, node],
    ...Object.entries(node.properties ?? {}).flatMap(([name, each]) => nodes(each, path ? `${path}.${name}` : name)),
    ...(node.items ? nodes(node.items, `${path}[]`) : []),
    ...(node.additionalProperties ? nodes(node.additionalProperties, `${path}{}`) : []),
  ];
}

describe.each(named)('the definition of %s', (_name, definition) => {
  test('is structural and complete', () => {
    expect(definitionProblems(definition as unknown as ApiObject)).toEqual([]);
  });

  test('explains every field', () => {
    const undocumented = nodes(schemaOf(definition)).filter(([path, { description }]) => {
      return description === undefined && !path.endsWith(']') && !path.endsWith('}') && path !== 'metadata';
    });
    expect(undocumented.map(([path]) => path)).toEqual([]);
  });
});

describe('DynamicEnv', () => {
  const fields = new Map(nodes(schemaOf(dynamicEnv.crd)));

  test.each([
    ['spec', 'subsets'],
    ['spec.istioMatches[]', ''],
    ['spec.istioMatches[].headers{}', ''],
    ['spec.subsets[]', 'name namespace'],
    ['spec.consumers[]', 'name namespace'],
    ['spec.subsets[].containers[]', 'containerName'],
    ['spec.subsets[].initContainers[]', 'containerName'],
    ['spec.subsets[].containers[].env[]', 'name'],
    ['spec.subsets[].containers[].env[].valueFrom.secretKeyRef', 'key'],
    ['spec.subsets[].containers[].env[].valueFrom.resourceFieldRef', 'resource'],
    ['status', 'subsetsStatus totalReady'],
    ['status.subsetsStatus{}', 'deployment'],
    ['status.subsetsStatus{}.deployment', 'name namespace status'],
    ['status.subsetsStatus{}.subsetErrors.destinationRule[]', 'error lastOccurrence'],
    ['status.consumersStatus{}', 'name namespace status'],
  ])('%s requires: %s', (path, required) => {
    expect((fields.get(path)!.required ?? []).toSorted().join(' ')).toBe(required);
  });

  test('has the defaults of the Kubernetes types that it contains, and no others', () => {
    const container = /^spec\.(subsets|consumers)\[\]\.(containers|initContainers)\[\]\.env\[\]\.valueFrom\./;
    const defaults = [...fields].flatMap(([path, { default: value }]) =>
      value === undefined ? [] : [`${path.replace(container, '')}=${JSON.stringify(value)}`],
    );
    expect([...new Set(defaults)].toSorted()).toEqual([
      'configMapKeyRef.name=""',
      'fileKeyRef.optional=false',
      'secretKeyRef.name=""',
    ]);
  });

  test('has the expected printer columns', () => {
    const { versions } = dynamicEnv.crd['spec'] as { versions: { additionalPrinterColumns: { name: string }[] }[] };
    const columns = versions[0]!.additionalPrinterColumns as unknown as Record<string, string>[];
    expect(columns.map(({ name, type, jsonPath }) => `${name} ${type} ${jsonPath}`)).toEqual([
      'Status string .status.state',
      'Desired integer .status.totalCount',
      'Current integer .status.totalReady',
      'Age date .metadata.creationTimestamp',
    ]);
  });
});

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

const manifest = parse(`
apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: {name: feature-1, namespace: default}
spec:
  istioMatches:
    - headers: {end-user: {prefix: jason}, x: {exact: y}, z: {regex: ".*"}}
    - sourceLabels: {end-user: jason}
  subsets:
    - name: cart
      namespace: shop
      replicas: 2
      podLabels: {x-key: x-value}
      defaultVersion: v1
      containers:
        - containerName: cart
          image: cart:2
          command: [run]
          env:
            - {name: TOPIC_NAME, value: test}
            - {name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
            - {name: B, valueFrom: {configMapKeyRef: {name: s, key: k}}}
            - {name: C, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
            - {name: D, valueFrom: {resourceFieldRef: {containerName: cart, resource: limits.cpu, divisor: 1m}}}
            - {name: E, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}
            - {name: F, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k, optional: true}}}
      initContainers: [{containerName: prepare, image: "prepare:2"}]
  consumers:
    - {name: cart-worker, namespace: shop, containers: [{containerName: worker, image: "worker:2"}]}
`) as DynamicEnv;

const status = parseJson(
  JSON.stringify({
    state: 'ready',
    totalCount: 2,
    totalReady: 2,
    subsetsStatus: {
      'shop/cart': {
        deployment: { name: 'cart-team-a-feature-1', namespace: 'shop', status: 'running' },
        destinationRules: [{ name: 'cart-team-a-feature-1-cart-svc', namespace: 'shop', status: 'running' }],
        virtualServices: [{ name: 'cart', namespace: 'edge', status: 'running' }],
        subsetErrors: { destinationRule: [{ error: 'e', lastOccurrence: '2024-01-31T10:00:00Z' }] },
        hash: 'HASH',
      },
    },
    consumersStatus: {
      'shop/cart-worker': {
        name: 'cart-worker-team-a-feature-1',
        namespace: 'shop',
        status: 'running',
        hash: 1,
        errors: [{ error: 'e', lastOccurrence: '2024-01-31T10:00:00Z' }],
      },
    },
  }).replace('"HASH"', '-7893432429265961114'),
) as NonNullable<DynamicEnv['status']>;

describe('an API server with these definitions', () => {
  let cluster: Embedded;
  let client: Client;

  beforeAll(async () => {
    cluster = await startEmbedded({ simulation: false });
    client = connectAdmin(cluster);
    for (const definition of definitions) await client.create(Definition, definition);
    await until(() =>
      client.list(DynamicEnv).then(
        () => true,
        () => false,
      ),
    );
  });

  afterAll(async () => {
    client.close();
    await cluster.stop();
  });

  test('stores an environment unchanged, to the last digit of its 64-bit hash', async () => {
    const created = await client.create(DynamicEnv, manifest);
    expect(created.spec).toEqual(manifest.spec);
    const answer = await client.patch(
      DynamicEnv,
      manifest.metadata,
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    expect(answer.status).toEqual(status);
  });

  test.each([
    ['spec.subsets', { istioMatches: [] }],
    ['istioMatches', { subsets: [] }],
    ['spec.key', { key: 'a b', subsets: [] }],
    ['spec.subsets[0].namespace', { istioMatches: [], subsets: [{ name: 'cart' }] }],
    ['spec.subsets[0].replicas', { istioMatches: [], subsets: [{ name: 'a', namespace: 'b', replicas: 'two' }] }],
    [
      'spec.consumers[0].containers[0].containerName',
      { istioMatches: [], subsets: [], consumers: [{ name: 'a', namespace: 'b', containers: [{}] }] },
    ],
  ])('rejects an environment without a valid %s and names the field', async (field, spec) => {
    const refused = { ...manifest, metadata: { name: 'refused', namespace: 'default' }, spec } as unknown as DynamicEnv;
    await expect(client.create(DynamicEnv, refused)).rejects.toThrow(field);
  });

  const objectWithoutSpec = ({ group, version, kind, namespaced }: AnyKind): AnyObject => {
    const metadata = { name: 'empty', ...(namespaced && { namespace: 'default' }) };
    return { apiVersion: `${group}/${version}`, kind, metadata };
  };

  test.each<AnyKind>([
    targets.DeploymentTarget,
    targets.DeploymentTargetClaim,
    targets.DeploymentTargetClass,
    targets.Environment,
    spaces.SpaceRequest,
    spaces.SpaceBinding,
    spaces.ManagedEnvironment,
  ])('rejects a $kind without a spec', async (kind) => {
    await expect(client.create(kind, objectWithoutSpec(kind))).rejects.toThrow('spec: Required value');
  });

  test.each(['targetMesh', 'target_mesh'])('stores a RoutingRule unchanged: %s', async (targetMesh) => {
    const rule = parse(`
apiVersion: supergloo.solo.io/v1
kind: RoutingRule
metadata: {name: ${targetMesh.toLowerCase().replace('_', '-')}, namespace: default}
spec:
  ${targetMesh}: {name: shop, namespace: supergloo-system}
  sourceSelector: null
  destinationSelector: {labelSelector: {labelsToMatch: {app: reviews}}}
  requestMatchers:
    - {prefix: /, headers: [{name: x, value: y}], query_parameters: [{name: q, regex: true, value: a+}], methods: [GET]}
    - null
  spec:
    trafficShifting:
      destinations:
        destinations: [{destination: {upstream: {name: reviews, namespace: gloo-system}}, weight: 4294967295}]
`) as routing.RoutingRule;
    const created = await client.create(routing.RoutingRule, rule);
    const { sourceSelector: _, ...written } = rule.spec;
    expect(created.spec).toMatchObject(written);
  });

  test.each(['upstreamSpec', 'kube'])('stores an Upstream unchanged in both forms: %s', async (form) => {
    const kube = { serviceName: 'reviews', serviceNamespace: 'shop', servicePort: 80, selector: { app: 'reviews' } };
    const spec = form === 'kube' ? { kube, sslConfig: { sni: 'a' } } : { upstreamSpec: { kube } };
    const metadata = { name: form.toLowerCase(), namespace: 'default' };
    const created = await client.create(Upstream, {
      apiVersion: 'gloo.solo.io/v1',
      kind: 'Upstream',
      metadata,
      spec,
    });
    expect(created.spec).toEqual(spec);
  });

  test('rejects a RoutingRule with a negative weight and names the field', async () => {
    const rule = {
      apiVersion: 'supergloo.solo.io/v1',
      kind: 'RoutingRule',
      metadata: { name: 'refused', namespace: 'default' },
      spec: { spec: { trafficShifting: { destinations: { destinations: [{ weight: -1 }] } } } },
    };
    await expect(client.create(routing.RoutingRule, rule)).rejects.toThrow(
      'spec.spec.trafficShifting.destinations.destinations[0].weight',
    );
  });

  test('accepts a Space without a spec', async () => {
    const kind: AnyKind = spaces.Space;
    expect(await client.create(kind, objectWithoutSpec(kind))).toMatchObject({ spec: {} });
  });
});
