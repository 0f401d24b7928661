// The rules of a host are compiled once for all readers, and again only when one of their inputs changes.
import { describe, expect, test } from 'vitest';
import { Reads } from '../controller/index.ts';
import { Tables } from '../kube/index.ts';
import type { AnyKind, KubeObject } from '../kube/index.ts';
import { Gateway, Sidecar, DestinationRule, VirtualService } from './istio/objects.ts';
import type { HttpRoute } from './istio/objects.ts';
import { routerOf } from './models.ts';
import type { Decision, Source } from './index.ts';
import { Deployment, Service } from './services.ts';

const kinds: readonly AnyKind[] = [Service, Deployment, VirtualService, DestinationRule, Sidecar, Gateway];

let version = 0;
const object = (kind: AnyKind, name: string, fields: object): KubeObject => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: { name, namespace: 'shop', uid: `${kind.kind} ${name}`, resourceVersion: `${++version}` },
  ...fields,
});

const service = (name: string) =>
  object(Service, name, { spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }] } });
const deployment = (name: string, readyReplicas = 1) =>
  object(Deployment, name, { spec: { template: { metadata: { labels: { app: name } } } }, status: { readyReplicas } });
const routes = (name: string, http: readonly HttpRoute[], hosts = [name]) =>
  object(VirtualService, name, { spec: { hosts, http } });
const to = (host: string) => ({ route: [{ destination: { host } }] });

const web: Source = { namespace: 'shop', labels: { app: 'web', pod: '1' } };

/** Tables with these objects, and readers that decide about a request to a host. */
function world(...objects: readonly KubeObject[]) {
  const tables = new Tables();
  const put = (each: KubeObject): void => {
    const kind = kinds.find((known) => known.kind === each.kind)!;
    for (const table of tables.holding(kind)) table.observe(each);
  };
  const woken: string[] = [];
  const reads = new Reads({ tables, now: () => 0, wake: (reader) => woken.push(reader) });
  const ask = (host: string, source = web): Decision =>
    reads.track(host, (view) => routerOf(view).decide({ host, port: 80, path: '/', source }));
  const rules = (host: string, source = web): object =>
    reads.track(host, (view) => routerOf(view).rulesFor(source, host, 80));
  ask('unknown');
  for (const each of objects) put(each);
  reads.deliver();
  woken.length = 0;
  return {
    ask,
    rules,
    /** The readers that a change wakes. */
    change: (each: KubeObject): readonly string[] => {
      put(each);
      reads.deliver();
      return woken.splice(0);
    },
  };
}

const workloadsOf = (decision: Decision): readonly string[] =>
  decision.kind === 'route' ? decision.destinations.flatMap(({ workloads }) => workloads) : [decision.kind];

describe('routerOf', () => {
  test('follows changes, and wakes only the readers of the host that changed', () => {
    const { ask, change } = world(service('a'), service('b'), deployment('a'), deployment('b'));
    expect(workloadsOf(ask('a'))).toEqual(['shop/Deployment/a']);
    expect(workloadsOf(ask('b'))).toEqual(['shop/Deployment/b']);
    expect(change(routes('a', [to('b')]))).toEqual(['a']);
    expect(workloadsOf(ask('a'))).toEqual(['shop/Deployment/b']);
    expect(change(routes('c', [to('b')]))).toEqual([]);
    expect(change(deployment('b', 0)).toSorted()).toEqual(['a', 'b']);
    expect(ask('a')).toMatchObject({ kind: 'route', status: 503, destinations: [{ outcome: 'NoEndpoints' }] });
  });

  test('wakes nobody when the rules stay the same', () => {
    const { ask, change } = world(service('a'), deployment('a'));
    ask('a');
    expect(change(deployment('a', 2))).toEqual([]);
  });

  test('shares the rules among all callers of a namespace, until a Sidecar selects some of them', () => {
    const { rules, change } = world(service('a'), deployment('a'));
    const other: Source = { namespace: 'shop', labels: { app: 'other', pod: '2' } };
    expect(rules('a', other)).toBe(rules('a', web));
    const spec = { workloadSelector: { labels: { app: 'other' } }, egress: [{ hosts: ['depot/*'] }] };
    change(object(Sidecar, 'narrow', { spec }));
    expect(rules('a', other)).toMatchObject({ tiers: [], otherwise: 'Passthrough' });
    expect(rules('a', web)).toMatchObject({ tiers: [{ rules: [{ name: 'default' }] }] });
  });

  test('notices objects that did not exist before: a Gateway, a subset, a wildcard', () => {
    const { ask, change } = world(service('a'), deployment('a'));
    const edge: Source = { gateway: 'shop/edge' };
    expect(ask('a.example.com', edge)).toMatchObject({ kind: 'response', reason: 'NoListener', status: 0 });
    const server = { port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] };
    expect(change(object(Gateway, 'edge', { spec: { selector: { istio: 'edge' }, servers: [server] } }))).toEqual([
      'a.example.com',
    ]);
    expect(ask('a.example.com', edge)).toMatchObject({ kind: 'response', reason: 'UnknownHost', status: 404 });
    const destination = { host: 'a', subset: 'v1' };
    const spec = { hosts: ['*.example.com'], gateways: ['edge'], http: [{ route: [{ destination }] }] };
    expect(change(object(VirtualService, 'edge', { spec }))).toEqual(['a.example.com']);
    expect(ask('a.example.com', edge)).toMatchObject({ status: 503, destinations: [{ outcome: 'MissingSubset' }] });
    expect(change(object(DestinationRule, 'a', { spec: { host: 'a', subsets: [{ name: 'v1' }] } }))).toEqual([
      'a.example.com',
    ]);
    expect(workloadsOf(ask('a.example.com', edge))).toEqual(['shop/Deployment/a']);
  });
});
