// What would stop environments from working, one thing at a time in a shop where nothing would.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { PLAYGROUND } from '../../api/playground.ts';
import { factsOf } from '../../controller/index.ts';
import { tablesOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { untracked } from '../../watchable/index.ts';
import { defaultSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { diagnose, doctorTables } from './doctor.ts';
import type { Finding } from './finding.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

type Content = KubeObject & { readonly spec?: unknown; readonly status?: unknown };

const ISTIO = 'networking.istio.io/v1beta1';
const HOST = 'reviews.shop.svc.cluster.local';

function object(apiVersion: string, kind: string, name: string, spec?: unknown, metadata: object = {}): Content {
  return { apiVersion, kind, metadata: { name, namespace: 'shop', ...metadata }, spec };
}

const labels = { app: 'reviews', version: 'shared' };
const deployment = object('apps/v1', 'Deployment', 'reviews', {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'app' }] } },
});
const service = object('v1', 'Service', 'reviews', {
  selector: { app: 'reviews' },
  ports: [{ name: 'http', port: 9080 }],
});
const rule = object(ISTIO, 'DestinationRule', 'reviews', {
  host: 'reviews',
  subsets: [{ name: 'shared', labels: { version: 'shared' } }],
});
const base = { name: 'base', route: [{ destination: { host: 'reviews', subset: 'shared' } }] };
const virtualService = (name: string, spec: object, metadata: object = {}): Content =>
  object(ISTIO, 'VirtualService', name, spec, metadata);
const routes = virtualService('reviews', { hosts: ['reviews'], http: [base] });
const namespace = (name: string, namespaceLabels: object = {}): Content =>
  object('v1', 'Namespace', name, undefined, { labels: namespaceLabels });

/** An object with another spec, in part. */
function withSpec(changed: Content, spec: object): Content {
  return { ...changed, spec: { ...(changed.spec as object), ...spec } };
}

const SHOP = [deployment, service, rule, routes];

/** The shop with some objects in place of those of their names, and without others. */
function shop(changes: readonly Content[], without: readonly Content[] = []): readonly Content[] {
  const idOf = ({ kind, metadata }: Content): string => `${kind} ${metadata.namespace}/${metadata.name}`;
  const gone = new Set(without.map(idOf));
  const all = new Map([...SHOP, ...changes].map((each) => [idOf(each), each]));
  return [...all.values()].filter((each) => !gone.has(idOf(each)));
}

function findingsIn(objects: readonly KubeObject[], settings: Partial<Settings> = {}, ns = 'shop'): readonly Finding[] {
  const facts = factsOf(tablesOf(doctorTables, objects), untracked);
  return diagnose(facts, { ...defaultSettings, ...settings }, { namespace: ns }).findings;
}

/** Each as `severity reason Kind object`. */
function inShort(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ severity, reason, kind, object: name }) => `${severity} ${reason} ${kind} ${name}`);
}

describe('nothing to find', () => {
  test('in a shop that has everything', () => {
    expect(findingsIn(SHOP)).toEqual([]);
  });

  test.each(['shop.yaml', 'dynamicenv.yaml', 'routing.yaml'])('in the examples: %s', (file) => {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../../examples', file), 'utf8');
    const objects = parseObjects(text);
    const facts = factsOf(tablesOf(doctorTables, objects), untracked);
    expect(diagnose(facts, defaultSettings).findings).toEqual([]);
  });

  test('about workloads that no Service selects, which environments have as consumers', () => {
    expect(findingsIn([deployment])).toEqual([]);
  });

  test('about clones', () => {
    const metadata = { annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' } };
    const clone = object('apps/v1', 'Deployment', 'reviews-shop-pr-7', deployment.spec, metadata);
    const other = withSpec(service, { selector: { version: 'shop-pr-7' } });
    expect(findingsIn(shop([clone, other, service]))).toEqual([]);
  });

  test('of other namespaces, and those of the system unless they are named', () => {
    const system = SHOP.map((each) => ({ ...each, metadata: { ...each.metadata, namespace: 'kube-system' } }));
    const broken = system.slice(0, 2);
    const facts = factsOf(tablesOf(doctorTables, broken), untracked);
    expect(diagnose(facts, defaultSettings)).toEqual({ workloads: 0, findings: [] });
    expect(diagnose(facts, defaultSettings, { namespace: 'shop' })).toEqual({ workloads: 0, findings: [] });
    expect(diagnose(facts, defaultSettings, { namespace: 'kube-system' }).findings).not.toEqual([]);
  });
});

test('an environment that has something where the controllers no longer look', () => {
  const message = "Deployment pay/till-shop-wide can't be removed, for the controllers no longer look after pay";
  const condition = { type: 'LeftBehind', status: 'True', reason: 'NamespaceNotWatched', message };
  const env = {
    ...object('riskified.com/v1alpha1', 'DynamicEnv', 'wide', { key: 'wide', subsets: [] }),
    status: { subsetsStatus: {}, conditions: [condition] },
  };
  expect(findingsIn(shop([env]))).toEqual([
    {
      severity: 'error',
      reason: 'LeftBehind',
      kind: 'DynamicEnv',
      object: 'shop/wide',
      message,
      advice: expect.stringContaining('metadata.finalizers'),
    },
  ]);
  expect(findingsIn(shop([env]), {}, 'pay')).toEqual([]);
});

describe('Services', () => {
  test('one whose base is gone selects only clones', () => {
    const metadata = { annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' } };
    const clone = object('apps/v1', 'Deployment', 'reviews-shop-pr-7', deployment.spec, metadata);
    expect(findingsIn(shop([clone]))).toEqual([]);
    expect(findingsIn(shop([clone], [deployment]))).toEqual([
      {
        severity: 'error',
        reason: 'ServiceSelectsClonesOnly',
        kind: 'Service',
        object: 'shop/reviews',
        message:
          'it selects only clones (of shop/pr-7): its base Deployment is gone, and requests without a key get no answer',
        advice: 'create the base Deployment again, or delete shop/pr-7',
      },
    ]);
    // Nobody routes to it, so somebody made it for the clone.
    expect(findingsIn(shop([clone], [deployment, routes]))).toEqual([]);
  });

  test('one that selects the version of the base does not lead to clones', () => {
    const [finding, ...others] = findingsIn(shop([withSpec(service, { selector: labels })]));
    expect(others).toEqual([]);
    expect(finding).toEqual({
      severity: 'error',
      reason: 'ServiceSelectsBaseOnly',
      kind: 'Service',
      object: 'shop/reviews',
      message:
        'its selector asks for version=shared, which clones of Deployment reviews do not have: no request to it reaches them',
      advice: 'leave version out of its selector: DestinationRule subsets tell versions apart',
    });
  });

  test('beside one that leads there it is a warning', () => {
    const second = object('v1', 'Service', 'stable', { selector: labels, ports: [{ name: 'http', port: 80 }] });
    expect(inShort(findingsIn(shop([second])))).toEqual(['warning ServiceSelectsBaseOnly Service shop/stable']);
  });

  test.each([
    [{ port: 9080 }, 'port 9080 without a name does not declare its protocol'],
    [{ port: 9080, name: 'web' }, 'port 9080 "web" does not declare its protocol'],
  ])('the port %j', (port, message) => {
    const [finding, ...others] = findingsIn(shop([withSpec(service, { ports: [port] })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'warning', reason: 'PortWithoutProtocol', kind: 'Service' });
    expect(finding!.message).toContain(message);
  });

  test.each([
    { port: 9080, name: 'http-web' },
    { port: 9080, name: 'grpc' },
    { port: 9080, name: 'web', appProtocol: 'http' },
    { port: 9080, appProtocol: 'kubernetes.io/h2c' },
  ])('the port %j is as it should be', (port) => {
    expect(findingsIn(shop([withSpec(service, { ports: [port, { port: 53, protocol: 'UDP' }] })]))).toEqual([]);
  });

  test('without a port of HTTP', () => {
    const ports = [
      { port: 6379, name: 'redis' },
      { port: 9080, name: 'tcp-web' },
    ];
    expect(inShort(findingsIn(shop([withSpec(service, { ports })])))).toEqual([
      'error NoHttpPort Service shop/reviews',
    ]);
    const beside = [...ports, { port: 80, name: 'http' }];
    expect(findingsIn(shop([withSpec(service, { ports: beside })]))).toEqual([]);
  });
});

describe('DestinationRules', () => {
  test('none for the host', () => {
    expect(inShort(findingsIn(shop([], [rule])))).toEqual(['error NoDestinationRule Service shop/reviews']);
  });

  test('one in another namespace does not count', () => {
    const away = object(
      ISTIO,
      'DestinationRule',
      'away',
      { ...(rule.spec as object), host: HOST },
      { namespace: 'web' },
    );
    const [finding] = findingsIn(shop([away], [rule]));
    expect(finding).toMatchObject({ reason: 'NoDestinationRule', object: 'shop/reviews' });
    expect(finding!.message).toContain('DestinationRule web/away is in another namespace');
  });

  test('one of callers, which takes the place of those of environments', () => {
    const theirs = (host: string, ns = 'web') =>
      object(ISTIO, 'DestinationRule', 'theirs', { ...(rule.spec as object), host }, { namespace: ns });
    const found = ['warning RuleOfCallers DestinationRule web/theirs'];
    expect(inShort(findingsIn(shop([theirs(HOST)])))).toEqual(found);
    expect(inShort(findingsIn(shop([theirs('*.shop.svc.cluster.local')])))).toEqual(found);
    expect(findingsIn(shop([theirs('*.other.svc.cluster.local')]))).toEqual([]);
    expect(findingsIn(shop([theirs(HOST, 'istio-system')]))).toEqual([]);
    const istio = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio', namespace: 'istio-system' } };
    const config = { ...istio, data: { mesh: 'rootNamespace: web\n' } };
    expect(findingsIn(shop([theirs(HOST), config]))).toEqual([]);
    const spec = { ...(rule.spec as object), host: HOST, exportTo: ['shop'] };
    expect(findingsIn(shop([withSpec(theirs(HOST), spec)]))).toEqual([]);
  });

  test('one that does not declare the default version', () => {
    const subsets = [{ name: 'v1', labels: { version: 'v1' } }];
    const [finding, ...others] = findingsIn(shop([withSpec(rule, { subsets })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'error', reason: 'NoDestinationRule', kind: 'DestinationRule' });
    expect(finding!.message).toContain('its subsets are v1');
  });

  test('another default version that is declared and routed to', () => {
    const subsets = [{ name: 'v1', labels: { version: 'v1' } }];
    const http = [{ route: [{ destination: { host: 'reviews', subset: 'v1' } }] }];
    const objects = shop([withSpec(rule, { subsets }), withSpec(routes, { http })]);
    expect(findingsIn(objects, { defaultVersion: 'v1' })).toEqual([]);
    expect(inShort(findingsIn(objects))).toEqual([
      'error NoDestinationRule DestinationRule shop/reviews',
      'error DefaultVersionNotRouted VirtualService shop/reviews',
    ]);
  });
});

describe('VirtualServices', () => {
  test('none for the host', () => {
    expect(inShort(findingsIn(shop([], [routes])))).toEqual(['error NoVirtualService Service shop/reviews']);
  });

  test('only one at a gateway', () => {
    const edge = virtualService('edge', { hosts: ['reviews.shop'], gateways: ['edge'], http: [base] });
    expect(inShort(findingsIn(shop([edge], [routes])))).toEqual(['warning NoVirtualService Service shop/reviews']);
  });

  test('a route without a subset, which is named', () => {
    const open = { match: [{ uri: { prefix: '/v2' } }], route: [{ destination: { host: 'reviews' } }] };
    const [finding, ...others] = findingsIn(shop([withSpec(routes, { http: [base, open] })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      severity: 'error',
      reason: 'RouteWithoutSubset',
      kind: 'VirtualService',
      object: 'shop/reviews',
      advice: 'add subset: shared to the destination',
    });
    expect(finding!.message).toMatch(/^route http\[1] leads to reviews\.shop\.svc\.cluster\.local without a subset/);
  });

  test('a route to another version beside that to the default one is nobody’s concern', () => {
    const canary = { match: [{ uri: { prefix: '/v2' } }], route: [{ destination: { host: 'reviews', subset: 'v2' } }] };
    expect(findingsIn(shop([withSpec(routes, { http: [canary, base] })]))).toEqual([]);
  });

  test('routes that lead elsewhere', () => {
    const http = [{ route: [{ destination: { host: 'ratings', subset: 'shared' } }] }];
    expect(inShort(findingsIn(shop([withSpec(routes, { http })])))).toEqual([
      'error DefaultVersionNotRouted VirtualService shop/reviews',
    ]);
  });

  test('a host in two of them: Istio goes by the older one', () => {
    const older = virtualService(
      'older',
      { hosts: [HOST], http: [base] },
      { creationTimestamp: '2026-01-01T00:00:00Z' },
    );
    const younger = { ...routes, metadata: { ...routes.metadata, creationTimestamp: '2026-02-01T00:00:00Z' } };
    const [finding, ...others] = findingsIn(shop([older, younger]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      severity: 'warning',
      reason: 'HostInSeveralVirtualServices',
      object: 'shop/reviews',
      advice: 'move its routes to VirtualService shop/older and delete this one',
    });
    const useless = withSpec(older, { http: [{ redirect: { uri: '/' } }] });
    expect(inShort(findingsIn(shop([useless, younger])))).toEqual([
      'error HostInSeveralVirtualServices VirtualService shop/reviews',
    ]);
  });

  test('a host in two of them, one of which is for a gateway or for another namespace', () => {
    const edge = virtualService('edge', { hosts: [HOST], gateways: ['edge'], http: [base] });
    const away = virtualService('away', { hosts: [HOST], exportTo: ['web'], http: [base] });
    expect(findingsIn(shop([edge]))).toEqual([]);
    expect(findingsIn(shop([away]))).toEqual([]);
  });

  test('one at a gateway that leads there by another host', () => {
    const edge = virtualService('edge', { hosts: ['shop.example.com'], gateways: ['edge'], http: [base] });
    expect(inShort(findingsIn(shop([edge])))).toEqual(['note OtherHost VirtualService shop/edge']);
    const [finding] = findingsIn(shop([edge]), { gatewayRoutes: false });
    expect(finding).toMatchObject({ severity: 'warning', reason: 'OtherHost', advice: 'turn on --gateway-routes' });
    const open = withSpec(edge, { http: [{ route: [{ destination: { host: 'reviews' } }] }] });
    expect(inShort(findingsIn(shop([open])))).toEqual(['error RouteWithoutSubset VirtualService shop/edge']);
  });

  test('one for the mesh that leads there by another host', () => {
    const alias = virtualService('alias', { hosts: ['old-reviews'], http: [base] });
    expect(inShort(findingsIn(shop([alias])))).toEqual(['warning OtherHost VirtualService shop/alias']);
  });

  test('a delegate that is not there', () => {
    const root = withSpec(routes, { http: [{ delegate: { name: 'part' } }, base] });
    expect(inShort(findingsIn(shop([root])))).toEqual(['warning NoDelegate VirtualService shop/reviews']);
    const part = virtualService('part', { http: [base] });
    expect(findingsIn(shop([root, part]))).toEqual([]);
  });

  test('headers that base rules use', () => {
    const rules = (header: string) => {
      const canary = { match: [{ headers: { [header]: { prefix: 'a' } } }], route: base.route };
      return shop([withSpec(routes, { http: [canary, base] })]);
    };
    expect(inShort(findingsIn(rules('x-env')))).toEqual(['warning HeaderInUse VirtualService shop/reviews']);
    expect(inShort(findingsIn(rules('x-env'), { keyHeader: 'x-team' }))).toEqual([
      'note HeaderInUse VirtualService shop/reviews',
    ]);
    expect(inShort(findingsIn(rules('baggage')))).toEqual(['warning HeaderInUse VirtualService shop/reviews']);
    expect(inShort(findingsIn(rules('x-beta')))).toEqual(['note HeaderInUse VirtualService shop/reviews']);
    const env = object('riskified.com/v1alpha1', 'DynamicEnv', 'pr-7', {
      istioMatches: [{ headers: { 'X-Beta': { exact: 'pr-7' } } }],
      subsets: [{ name: 'reviews', namespace: 'shop', containers: [] }],
    });
    expect(inShort(findingsIn([...rules('x-beta'), env]))).toEqual(['warning HeaderInUse VirtualService shop/reviews']);
  });

  test('a rule that proxies refuse', () => {
    const lookahead = { name: 'odd', match: [{ uri: { regex: '(?=a)' } }], route: base.route };
    const [finding, ...others] = findingsIn(shop([withSpec(routes, { http: [lookahead, base] })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'error', reason: 'RefusedByProxy', object: 'shop/reviews' });
    expect(finding!.message).toMatch(/^proxies refuse route "odd"/);
  });
});

describe('sidecars', () => {
  const pod = (name: string, containers: readonly string[], spec: object = {}): Content => ({
    ...object('v1', 'Pod', name, { ...spec, containers: containers.map((each) => ({ name: each })) }),
    status: { phase: 'Running' },
  });
  const cluster = [namespace('kube-system'), namespace('shop')];

  test('a pod without one, where others have some', () => {
    const pods = [pod('web', ['web', 'istio-proxy']), pod('old', ['old'])];
    expect(inShort(findingsIn(shop([...cluster, ...pods])))).toEqual(['warning NoSidecar Pod shop/old']);
  });

  test('pods that are over or use the network of the node', () => {
    const over = { ...pod('over', ['job']), status: { phase: 'Succeeded' } };
    const pods = [pod('web', ['web', 'istio-proxy']), over, pod('agent', ['agent'], { hostNetwork: true })];
    expect(findingsIn(shop([...cluster, ...pods]))).toEqual([]);
  });

  test('a sidecar as an init container', () => {
    const spec = { initContainers: [{ name: 'istio-proxy' }] };
    expect(findingsIn(shop([...cluster, pod('web', ['web'], spec)]))).toEqual([]);
  });

  test('the sample shop has proxies without sidecars', () => {
    const playground = {
      ...namespace('playground'),
      metadata: { name: 'playground', annotations: { [PLAYGROUND]: 'complete' } },
    };
    expect(findingsIn(shop([...cluster, playground, pod('web', ['web'])]))).toEqual([]);
  });

  test('a cluster without a mesh is only told of', () => {
    expect(inShort(findingsIn(shop([...cluster, pod('web', ['web'])])))).toEqual(['note NoMesh Namespace *']);
  });

  test('the embedded cluster is no place to install a mesh', () => {
    const facts = factsOf(tablesOf(doctorTables, shop([...cluster, pod('web', ['web'])])), untracked);
    const { findings } = diagnose(facts, defaultSettings, { isEmbedded: true });
    expect(inShort(findings)).toEqual(['note NoMesh Namespace *']);
    expect(findings[0]!.message).toContain('its pods are simulated');
    expect(findings[0]!.advice).not.toMatch(/install/i);
  });

  test('manifests: what namespaces and templates ask for', () => {
    const meshed = namespace('shop', { 'istio-injection': 'enabled' });
    const withLabels = (inject: string) => {
      const template = { metadata: { labels: { ...labels, 'sidecar.istio.io/inject': inject } } };
      return withSpec(deployment, { template });
    };
    expect(findingsIn(shop([meshed]))).toEqual([]);
    expect(inShort(findingsIn(shop([meshed, withLabels('false')])))).toEqual([
      'warning NoSidecar Deployment shop/reviews',
    ]);
    expect(inShort(findingsIn(shop([namespace('shop'), namespace('web', { 'istio.io/rev': 'a' })])))).toEqual([
      'warning NoSidecar Deployment shop/reviews',
    ]);
    expect(
      findingsIn(shop([namespace('shop'), namespace('web', { 'istio.io/rev': 'a' }), withLabels('true')])),
    ).toEqual([]);
  });
});
