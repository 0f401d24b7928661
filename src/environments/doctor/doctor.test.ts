// Problems that would stop environments from working, one at a time, in a shop that has none.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { PLAYGROUND } from '../../api/playground.ts';
import { factsOf } from '../../controller/index.ts';
import { tablesOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { untracked } from '../../watchable/index.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { defaultSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { confirmed, diagnose, doctorTables, hasOrphans } from './doctor.ts';
import type { DiagnoseOptions } from './doctor.ts';
import type { Finding } from './finding.ts';
import * as orphans from '../testing/orphan-world.ts';
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

/** An object with some fields of its spec changed. */
function withSpec(changed: Content, spec: object): Content {
  return { ...changed, spec: { ...(changed.spec as object), ...spec } };
}

const SHOP = [deployment, service, rule, routes];

/** The shop with some objects replaced or added, and without others. */
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

describe('diagnose', () => {
  test('finds nothing in a shop that has everything', () => {
    expect(findingsIn(SHOP)).toEqual([]);
  });

  test.each(['shop.yaml', 'dynamicenv.yaml', 'routing.yaml'])('finds nothing in the examples: %s', (file) => {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../../examples', file), 'utf8');
    const objects = parseObjects(text);
    const facts = factsOf(tablesOf(doctorTables, objects), untracked);
    expect(diagnose(facts, defaultSettings).findings).toEqual([]);
  });

  test('ignores workloads that no Service selects, which can be consumers', () => {
    expect(findingsIn([deployment])).toEqual([]);
  });

  test('ignores clones', () => {
    const metadata = { annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' } };
    const clone = object('apps/v1', 'Deployment', 'reviews-shop-pr-7', deployment.spec, metadata);
    const other = withSpec(service, { selector: { version: 'shop-pr-7' } });
    expect(findingsIn(shop([clone, other, service]))).toEqual([]);
  });

  test('ignores other namespaces, and system namespaces unless they are named', () => {
    const system = SHOP.map((each) => ({ ...each, metadata: { ...each.metadata, namespace: 'kube-system' } }));
    const broken = system.slice(0, 2);
    const facts = factsOf(tablesOf(doctorTables, broken), untracked);
    expect(diagnose(facts, defaultSettings)).toEqual({ workloads: 0, findings: [] });
    expect(diagnose(facts, defaultSettings, { namespace: 'shop' })).toEqual({ workloads: 0, findings: [] });
    expect(diagnose(facts, defaultSettings, { namespace: 'kube-system' }).findings).not.toEqual([]);
  });
});

test('diagnose reports an environment with objects in a namespace that is no longer watched', () => {
  const message = "Deployment pay/till-shop-wide can't be removed, because the controllers no longer watch pay";
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

describe('diagnose of orphans', () => {
  const { clone, rule: cloneRule, routes: edited, environment } = orphans;
  const diagnosed = (objects: readonly KubeObject[], options: DiagnoseOptions = {}) =>
    diagnose(factsOf(tablesOf(doctorTables, objects), untracked), defaultSettings, options);
  const inCluster = (objects: readonly KubeObject[], ns?: string): readonly Finding[] =>
    diagnosed(objects, { isCluster: true, ...(ns !== undefined && { namespace: ns }) }).findings;
  const withMetadata = <T extends KubeObject>(changed: T, metadata: object): T => ({
    ...changed,
    metadata: { ...changed.metadata, ...metadata },
  });
  const all = [clone, cloneRule, edited];

  test('reports clones, rules and routes whose environment is gone, and who removes them', () => {
    const advice = (it: string) =>
      `the controllers remove ${it} 10 minutes after they first see ${it}; with --remove-orphans=false or --namespaces, remove ${it} yourself, routes before rules and clones`;
    const found = { severity: 'warning', reason: 'Orphaned' };
    const message = 'environment shop/feature, which it was made for, is gone: its finalizers did not run';
    expect(inCluster(all)).toEqual([
      {
        ...found,
        kind: 'VirtualService',
        object: 'shop/cart',
        message: 'it has routes to environment shop/feature, which is gone: its finalizers did not run',
        advice: advice('them'),
      },
      { ...found, kind: 'Deployment', object: 'shop/cart-shop-feature', message, advice: advice('it') },
      { ...found, kind: 'DestinationRule', object: 'shop/cart-shop-feature-cart', message, advice: advice('it') },
    ]);
    expect(inCluster([...all, environment('feature')])).toEqual([]);
  });

  test('finds them in the namespace of the object and in that of the environment', () => {
    const away = withMetadata(clone, {
      name: 'cart-team-feature',
      labels: { version: 'team-feature', 'dynamic-env': 'true' },
      annotations: { [WATCH_ANNOTATION]: 'team/feature' },
    });
    const found = ['warning Orphaned Deployment shop/cart-team-feature'];
    expect(inShort(inCluster([away], 'shop'))).toEqual(found);
    expect(inShort(inCluster([away], 'team'))).toEqual(found);
    expect(inCluster([away], 'pay')).toEqual([]);
  });

  test('notes those that may belong to somebody else, with the doubt', () => {
    const byHand = withMetadata(clone, { managedFields: [] });
    const copied = withMetadata(edited, { managedFields: [] });
    const found = { severity: 'note', reason: 'MayBeOrphaned' };
    expect(inCluster([byHand, copied])).toEqual([
      {
        ...found,
        kind: 'VirtualService',
        object: 'shop/cart',
        message:
          'its annotation names environment shop/feature, which does not exist, but the controllers keep it: its managedFields do not say that Offshoot wrote it',
        advice: `remove its routes to that environment, if there are any, and the name from the annotation ${WATCH_ANNOTATION}`,
      },
      {
        ...found,
        kind: 'Deployment',
        object: 'shop/cart-shop-feature',
        message:
          'its annotation names environment shop/feature, which does not exist, but the controllers keep it: its managedFields do not say that Offshoot applied it',
        advice: `delete it if nobody needs it, or else remove its annotation ${WATCH_ANNOTATION}`,
      },
    ]);
  });

  test('notes those that have lost their annotation', () => {
    const lost = all.map((each) => withMetadata(each, { annotations: {} }));
    const findings = inCluster(lost);
    expect(inShort(findings)).toEqual([
      'note MayBeOrphaned VirtualService shop/cart',
      'note MayBeOrphaned Deployment shop/cart-shop-feature',
      'note MayBeOrphaned DestinationRule shop/cart-shop-feature-cart',
    ]);
    expect(findings.map(({ message, advice }) => `${message}. ${advice}`)).toEqual([
      'it may have routes to an environment that does not exist, but the controllers keep them: its annotation does not say which environment the route dynamic-environment-shop-feature-cart-0123456789 is for. remove the route if nobody needs it',
      'it may be left over from an environment that does not exist, but the controllers keep it: no annotation says what it was made for. delete it if nobody needs it',
      'it may be left over from an environment that does not exist, but the controllers keep it: no annotation says what it was made for. delete it if nobody needs it',
    ]);
  });

  test('says nothing if the environments were not listed', () => {
    const tables = tablesOf(doctorTables, all);
    tables.of(DynamicEnv).notServed();
    expect(diagnose(factsOf(tables, untracked), defaultSettings, { isCluster: true }).findings).toEqual([]);
  });

  test('says nothing about manifests without environments of that namespace', () => {
    const lost = withMetadata(cloneRule, { annotations: {} });
    expect(diagnosed(all).findings).toEqual([]);
    expect(diagnosed([...all, lost, environment('other', 'team')]).findings).toEqual([]);
    expect(diagnosed([...all, environment('feature')]).findings).toEqual([]);
  });

  test('only notes what manifests with other environments of that namespace lack', () => {
    const saved = withMetadata(clone, { managedFields: undefined });
    const findings = diagnosed([saved, cloneRule, environment('other')]).findings;
    expect(inShort(findings)).toEqual([
      'note MayBeOrphaned Deployment shop/cart-shop-feature',
      'note MayBeOrphaned DestinationRule shop/cart-shop-feature-cart',
    ]);
    const message =
      'its annotation names environment shop/feature, which is not among the manifests: it may be left over';
    expect(findings.map((each) => each.message)).toEqual([
      `${message}, but its managedFields do not say that Offshoot applied it`,
      message,
    ]);
  });

  test('are confirmed by a second look, in case an environment came or went during the first', () => {
    const first = diagnosed(all, { isCluster: true });
    expect(hasOrphans(first)).toBe(true);
    expect(confirmed(first, first)).toEqual(first);
    const other = withMetadata(clone, { name: 'pay-shop-feature' });
    const second = diagnosed([clone, other, ...shop([], [rule])], { isCluster: true });
    expect(inShort(confirmed(second, first).findings)).toEqual([
      'error NoDestinationRule Service shop/reviews',
      'warning Orphaned Deployment shop/cart-shop-feature',
    ]);
    const existing = diagnosed([...all, environment('feature')], { isCluster: true });
    expect(hasOrphans(existing)).toBe(false);
    expect(confirmed(existing, first).findings).toEqual([]);
    expect(confirmed(first, existing).findings).toEqual([]);
  });
});

describe('diagnose of Services', () => {
  test('reports one that selects only clones because the base is gone', () => {
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
    // Without routes, the Service was made for the clone.
    expect(findingsIn(shop([clone], [deployment, routes]))).toEqual([]);
  });

  test('reports one that selects the version of the base and so no clone', () => {
    const [finding, ...others] = findingsIn(shop([withSpec(service, { selector: labels })]));
    expect(others).toEqual([]);
    expect(finding).toEqual({
      severity: 'error',
      reason: 'ServiceSelectsBaseOnly',
      kind: 'Service',
      object: 'shop/reviews',
      message:
        'its selector asks for version=shared, which clones of Deployment reviews do not have: no request to it reaches them',
      advice: 'leave version out of its selector: DestinationRule subsets distinguish versions',
    });
  });

  test('warns about one that selects no clone if another Service does', () => {
    const second = object('v1', 'Service', 'stable', { selector: labels, ports: [{ name: 'http', port: 80 }] });
    expect(inShort(findingsIn(shop([second])))).toEqual(['warning ServiceSelectsBaseOnly Service shop/stable']);
  });

  test.each([
    [{ port: 9080 }, 'port 9080 without a name does not declare its protocol'],
    [{ port: 9080, name: 'web' }, 'port 9080 "web" does not declare its protocol'],
  ])('warns about the port %j', (port, message) => {
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
  ])('accepts the port %j', (port) => {
    expect(findingsIn(shop([withSpec(service, { ports: [port, { port: 53, protocol: 'UDP' }] })]))).toEqual([]);
  });

  test('reports one without an HTTP port', () => {
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

describe('diagnose of DestinationRules', () => {
  test('reports that none exists for the host', () => {
    expect(inShort(findingsIn(shop([], [rule])))).toEqual(['error NoDestinationRule Service shop/reviews']);
  });

  test('ignores one in another namespace', () => {
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

  test('warns about one in the namespace of callers, which hides those of environments', () => {
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

  test('reports one that does not declare the default version', () => {
    const subsets = [{ name: 'v1', labels: { version: 'v1' } }];
    const [finding, ...others] = findingsIn(shop([withSpec(rule, { subsets })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'error', reason: 'NoDestinationRule', kind: 'DestinationRule' });
    expect(finding!.message).toContain('its subsets are v1');
  });

  test('accepts another default version that is set, declared and routed to', () => {
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

describe('diagnose of VirtualServices', () => {
  test('reports that none exists for the host', () => {
    expect(inShort(findingsIn(shop([], [routes])))).toEqual(['error NoVirtualService Service shop/reviews']);
  });

  test('warns if there is only one at a gateway', () => {
    const edge = virtualService('edge', { hosts: ['reviews.shop'], gateways: ['edge'], http: [base] });
    expect(inShort(findingsIn(shop([edge], [routes])))).toEqual(['warning NoVirtualService Service shop/reviews']);
  });

  test('reports a route without a subset, and names it', () => {
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

  test('accepts a route to another version beside the one to the default version', () => {
    const canary = { match: [{ uri: { prefix: '/v2' } }], route: [{ destination: { host: 'reviews', subset: 'v2' } }] };
    expect(findingsIn(shop([withSpec(routes, { http: [canary, base] })]))).toEqual([]);
  });

  test('reports one whose routes lead to another host', () => {
    const http = [{ route: [{ destination: { host: 'ratings', subset: 'shared' } }] }];
    expect(inShort(findingsIn(shop([withSpec(routes, { http })])))).toEqual([
      'error DefaultVersionNotRouted VirtualService shop/reviews',
    ]);
  });

  test('reports one whose host is in an older one, which Istio uses', () => {
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

  test('accepts two for one host if one is for a gateway or another namespace', () => {
    const edge = virtualService('edge', { hosts: [HOST], gateways: ['edge'], http: [base] });
    const away = virtualService('away', { hosts: [HOST], exportTo: ['web'], http: [base] });
    expect(findingsIn(shop([edge]))).toEqual([]);
    expect(findingsIn(shop([away]))).toEqual([]);
  });

  test('notes one at a gateway that leads there by another host', () => {
    const edge = virtualService('edge', { hosts: ['shop.example.com'], gateways: ['edge'], http: [base] });
    expect(inShort(findingsIn(shop([edge])))).toEqual(['note OtherHost VirtualService shop/edge']);
    const [finding] = findingsIn(shop([edge]), { gatewayRoutes: false });
    expect(finding).toMatchObject({ severity: 'warning', reason: 'OtherHost', advice: 'turn on --gateway-routes' });
    const open = withSpec(edge, { http: [{ route: [{ destination: { host: 'reviews' } }] }] });
    expect(inShort(findingsIn(shop([open])))).toEqual(['error RouteWithoutSubset VirtualService shop/edge']);
  });

  test('warns about one for the mesh that leads there by another host', () => {
    const alias = virtualService('alias', { hosts: ['old-reviews'], http: [base] });
    expect(inShort(findingsIn(shop([alias])))).toEqual(['warning OtherHost VirtualService shop/alias']);
  });

  test('warns about TLS routes at a gateway, and about TCP routes in the mesh', () => {
    const tls = (destination: object) => [{ match: [{ sniHosts: ['shop.example.com'] }], route: [{ destination }] }];
    const edge = (destination: object) =>
      virtualService('edge', { hosts: ['shop.example.com'], gateways: ['edge'], tls: tls(destination) });
    const found = { severity: 'warning', reason: 'NotHttp', kind: 'VirtualService' };
    expect(findingsIn(shop([edge({ host: HOST, subset: 'shared' })]))).toEqual([
      {
        ...found,
        object: 'shop/edge',
        message: `route tls[0] leads to ${HOST} by TLS, which can't be routed by header: its connections never reach environments`,
        advice: 'let the gateway terminate TLS, and use an HTTP route, if environments should get these requests',
      },
    ]);
    expect(findingsIn(shop([edge({ host: HOST })]))).toEqual([
      {
        ...found,
        object: 'shop/edge',
        message: `route tls[0] leads to ${HOST} by TLS, which can't be routed by header: without a subset, its connections reach clones by load balancing`,
        advice: 'add subset: shared to the destination',
      },
    ]);
    expect(findingsIn(shop([edge({ host: 'ratings', subset: 'shared' })]))).toEqual([]);
    const both = withSpec(routes, { tcp: [{ match: [{ port: 9000 }], route: base.route }] });
    expect(findingsIn(shop([both]))).toEqual([
      {
        ...found,
        object: 'shop/reviews',
        message: `route tcp[0] leads to ${HOST} by TCP, which can't be routed by header: its connections never reach environments`,
        advice: 'use an HTTP route if environments should get these requests',
      },
    ]);
  });

  test('reports that no HTTP route leads to the default version if only TCP routes do', () => {
    const findings = findingsIn(
      shop([virtualService('reviews', { hosts: ['reviews'], tcp: [{ route: base.route }] })]),
    );
    expect(inShort(findings)).toEqual([
      'error DefaultVersionNotRouted VirtualService shop/reviews',
      'warning NotHttp VirtualService shop/reviews',
    ]);
    expect(findings[0]!.message).toMatch(/^none of its HTTP routes leads to subset "shared" of/);
  });

  test('does not call a VirtualService without HTTP routes the one that Istio uses, or ignores', () => {
    const at = (year: number) => ({ creationTimestamp: `${year}-01-01T00:00:00Z` });
    const http = { ...routes, metadata: { ...routes.metadata, ...at(2026) } };
    const spec = { hosts: ['reviews'], tcp: [{ route: base.route }] };
    for (const year of [2025, 2027]) {
      expect(inShort(findingsIn(shop([http, virtualService('tcp', spec, at(year))])))).toEqual([
        'warning NotHttp VirtualService shop/tcp',
      ]);
    }
    const both = virtualService('both', { ...spec, http: [base] }, at(2027));
    const [others, superseded] = findingsIn(shop([http, both]));
    expect(inShort([others!])).toEqual(['warning NotHttp VirtualService shop/both']);
    expect(superseded!.message).toMatch(/ is older: for HTTP requests in the mesh, Istio uses only that one$/);
  });

  test('warns about a delegate that does not exist', () => {
    const root = withSpec(routes, { http: [{ delegate: { name: 'part' } }, base] });
    expect(inShort(findingsIn(shop([root])))).toEqual(['warning NoDelegate VirtualService shop/reviews']);
    const part = virtualService('part', { http: [base] });
    expect(findingsIn(shop([root, part]))).toEqual([]);
  });

  test('reports headers that base routes match on', () => {
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

  test('reports a route that proxies reject', () => {
    const lookahead = { name: 'odd', match: [{ uri: { regex: '(?=a)' } }], route: base.route };
    const [finding, ...others] = findingsIn(shop([withSpec(routes, { http: [lookahead, base] })]));
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: 'error', reason: 'RefusedByProxy', object: 'shop/reviews' });
    expect(finding!.message).toMatch(/^proxies refuse route "odd"/);
  });
});

describe('diagnose of sidecars', () => {
  const pod = (name: string, containers: readonly string[], spec: object = {}): Content => ({
    ...object('v1', 'Pod', name, { ...spec, containers: containers.map((each) => ({ name: each })) }),
    status: { phase: 'Running' },
  });
  const cluster = [namespace('kube-system'), namespace('shop')];

  test('reports a pod without one if other pods have one', () => {
    const pods = [pod('web', ['web', 'istio-proxy']), pod('old', ['old'])];
    expect(inShort(findingsIn(shop([...cluster, ...pods])))).toEqual(['warning NoSidecar Pod shop/old']);
  });

  test('ignores pods that are finished or use the host network', () => {
    const over = { ...pod('over', ['job']), status: { phase: 'Succeeded' } };
    const pods = [pod('web', ['web', 'istio-proxy']), over, pod('agent', ['agent'], { hostNetwork: true })];
    expect(findingsIn(shop([...cluster, ...pods]))).toEqual([]);
  });

  test('accepts a sidecar as an init container', () => {
    const spec = { initContainers: [{ name: 'istio-proxy' }] };
    expect(findingsIn(shop([...cluster, pod('web', ['web'], spec)]))).toEqual([]);
  });

  test('ignores the sample shop, which needs none', () => {
    const playground = {
      ...namespace('playground'),
      metadata: { name: 'playground', annotations: { [PLAYGROUND]: 'complete' } },
    };
    expect(findingsIn(shop([...cluster, playground, pod('web', ['web'])]))).toEqual([]);
  });

  test('reports a cluster without a mesh as a note', () => {
    expect(inShort(findingsIn(shop([...cluster, pod('web', ['web'])])))).toEqual(['note NoMesh Namespace *']);
  });

  test('does not suggest to install a mesh in the embedded cluster', () => {
    const facts = factsOf(tablesOf(doctorTables, shop([...cluster, pod('web', ['web'])])), untracked);
    const { findings } = diagnose(facts, defaultSettings, { isEmbedded: true });
    expect(inShort(findings)).toEqual(['note NoMesh Namespace *']);
    expect(findings[0]!.message).toContain('its pods are simulated');
    expect(findings[0]!.advice).not.toMatch(/install/i);
  });

  test('uses the labels of namespaces and templates in manifests', () => {
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
