// Random worlds, and requests to the hosts in them. A world is made of cells: Services with unique names and the Istio
// objects about them, so that many cells can share one mesh.
import * as fc from 'fast-check';
import type { AnyObject } from '../../kube/index.ts';
import type { HttpRoute } from '../istio/objects.ts';
import type { Request, Source } from '../request.ts';
import { present, routes, sometimes } from './random-routes.ts';
import type { Words } from './random-routes.ts';

export const NAMESPACES = ['shop', 'depot'] as const;
export const PORTS = [8000, 8001] as const;
const INGRESS = 'istio-system/ingress';
const SECOND = 'shop/second';
/** The callers: pods and the gateway, as istiod sees them. `narrow` has a Sidecar. */
export const CALLERS = {
  web: { namespace: 'shop', labels: { app: 'web', tier: 'x' } },
  test: { namespace: 'depot', labels: { app: 'test' } },
  narrow: { namespace: 'shop', labels: { app: 'narrow' } },
  ingress: { gateway: INGRESS, namespace: 'istio-system', labels: { istio: 'ingress' } },
} as const satisfies Readonly<Record<string, Source>>;
export type Caller = keyof typeof CALLERS;

/** The hosts that the Sidecar of `narrow` may import from the cells. The caller adds those that the mesh needs. */
export function sidecarHosts(first: number): fc.Arbitrary<readonly string[]> {
  const [zero, one, two, three] = [0, 1, 2, 3].map((i) => first + i);
  return fc.constantFrom(
    ['./*'],
    ['*/*'],
    ['depot/*', '*/*.test'],
    ['./*', `~shop/s${one}.shop.svc.cluster.local`, `~*/*.s${two}.test`],
    [`*/s${zero}.shop.svc.cluster.local`, `depot/t${one}.depot.svc.cluster.local`, `shop/x.s${three}.test`],
  );
}

/** The hosts of the Gateway `shop/second`, which selects the same pods as `istio-system/ingress`. */
export function secondHosts(first: number): readonly string[] {
  return ['./*.test', 'depot/*.shop.svc.cluster.local', `*/x.s${first}.test`, `s${first + 1}.test`];
}

const ISTIO = 'networking.istio.io/v1beta1';
const DOMAIN = 'svc.cluster.local';

/** A Service with two versions, one in another namespace, and one without pods. */
function services(i: number): readonly AnyObject[] {
  const ports = PORTS.map((port) => ({ name: `http-${port}`, port, targetPort: 8080 }));
  const service = (name: string, namespace: string, pool: string, own: readonly object[], annotations?: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...(annotations && { annotations }) },
    spec: { selector: { pool }, ports: own },
  });
  const isPrivate = i % 5 === 4;
  const annotations = isPrivate ? { 'networking.istio.io/exportTo': '.' } : undefined;
  return [
    service(`s${i}`, 'shop', 'a', ports, annotations),
    service(`t${i}`, 'depot', 'b', ports.slice(0, 1)),
    service(`u${i}`, 'shop', 'none', ports),
  ] as AnyObject[];
}

function wordsOf(i: number): Words {
  return {
    namespaces: [...NAMESPACES, 'istio-system'],
    ports: PORTS,
    gateways: [INGRESS, SECOND],
    authorities: [`s${i}.shop`, `s${i}.shop.${DOMAIN}`, `x.s${i}.test`],
    sourceLabels: [{ app: 'web' }, { app: 'test' }, { app: 'web', tier: 'x' }, { istio: 'ingress' }],
    destinations: [
      `s${i}`,
      `s${i}.shop.${DOMAIN}`,
      `s${i}.shop.${DOMAIN}`,
      `t${i}.depot.${DOMAIN}`,
      `u${i}`,
      `x.s${i}.test`,
      `n${i}`,
    ],
    subsets: ['v1', 'v2', 'v3'],
  };
}

const exportTo = sometimes(
  fc.constantFrom(['*'], ['.'], ['shop'], ['depot'], ['~'], ['shop', 'istio-system'], ['depot', 'shop']),
  4,
);

function object(kind: string, name: string, namespace: string, spec: object): AnyObject {
  return { apiVersion: ISTIO, kind, metadata: { name, namespace }, spec };
}

function virtualService(i: number, number: number): fc.Arbitrary<readonly AnyObject[]> {
  const name = `v${i}-${number}`;
  const hosts = [
    `s${i}`,
    `s${i}.shop.${DOMAIN}`,
    `s${i}.shop.${DOMAIN}`,
    `t${i}.depot.${DOMAIN}`,
    `s${i}.shop`,
    `x.s${i}.test`,
    `y.s${i}.test`,
    `*.s${i}.test`,
    `s${i}.test`,
  ];
  const delegates = fc.array(sometimes(fc.constantFrom(`d${i}`, 'd-missing', `depot/d${i}`), 4), {
    minLength: 3,
    maxLength: 3,
  });
  const spec = present(
    fc.record({
      hosts: fc.subarray([...new Set(hosts)], { minLength: 1, maxLength: 3 }),
      gateways: sometimes(fc.subarray(['mesh', INGRESS, SECOND], { minLength: 1 }), 2),
      exportTo,
      http: fc
        .tuple(routes(name, wordsOf(i)), delegates)
        .map(([http, targets]) => http.map((each, at) => delegating(each, targets[at]))),
    }),
  );
  return fc
    .tuple(fc.constantFrom('shop', 'shop', 'depot', 'istio-system'), spec)
    .map(([namespace, each]) => [object('VirtualService', name, namespace, each)]);
}

function delegating(route: HttpRoute, target: string | undefined): HttpRoute {
  if (target === undefined) return route;
  const [name, namespace] = target.split('/').toReversed();
  const { match, headers } = route;
  return {
    name: 'root',
    ...(match && { match }),
    headers: headers!,
    delegate: { name: name!, ...(namespace && { namespace }) },
  };
}

function delegate(i: number, namespace: string): fc.Arbitrary<readonly AnyObject[]> {
  const spec = present(fc.record({ exportTo, http: routes(`d${i}-${namespace}`, wordsOf(i)) }));
  return spec.map((each) => [object('VirtualService', `d${i}`, namespace, each)]);
}

function destinationRule(i: number, number: number): fc.Arbitrary<readonly AnyObject[]> {
  const subset = (version: string) => ({ name: version, labels: { version } });
  const spec = present(
    fc.record({
      host: fc.constantFrom(
        `s${i}.shop.${DOMAIN}`,
        `s${i}.shop.${DOMAIN}`,
        `s${i}`,
        `t${i}.depot.${DOMAIN}`,
        `x.s${i}.test`,
        `*.s${i}.test`,
      ),
      subsets: fc.subarray([subset('v1'), subset('v2'), subset('v3')], { minLength: 1 }),
      exportTo,
      workloadSelector: sometimes(fc.constantFrom({ matchLabels: { app: 'web' } }), 8),
    }),
  );
  return fc
    .tuple(fc.constantFrom('shop', 'shop', 'depot', 'istio-system'), spec)
    .map(([namespace, each]) => [object('DestinationRule', `r${i}-${number}`, namespace, each)]);
}

/** Hosts outside the cluster that lead to its pods. */
function serviceEntry(i: number): fc.Arbitrary<readonly AnyObject[]> {
  const spec = present(
    fc.record({
      hosts: fc.constantFrom([`x.s${i}.test`], [`x.s${i}.test`, `y.s${i}.test`]),
      exportTo,
      ports: fc.constantFrom(
        ...[PORTS.slice(0, 1), PORTS].map((ports) =>
          ports.map((number) => ({ number, name: `http-${number}`, protocol: 'HTTP', targetPort: 8080 })),
        ),
      ),
    }),
  );
  const rest = { location: 'MESH_INTERNAL', resolution: 'STATIC', workloadSelector: { labels: { pool: 'a' } } };
  return spec.map((each) => [object('ServiceEntry', `e${i}`, 'shop', { ...each, ...rest })]);
}

const nothing = fc.constant<readonly AnyObject[]>([]);
const maybe = (arbitrary: fc.Arbitrary<readonly AnyObject[]>, weight = 1) =>
  fc.oneof({ arbitrary, weight }, { arbitrary: nothing, weight: 1 });

/** The Services of a cell and the Istio objects about them. */
export function cell(i: number): fc.Arbitrary<readonly AnyObject[]> {
  return fc
    .tuple(
      maybe(virtualService(i, 0), 9),
      maybe(virtualService(i, 1)),
      maybe(virtualService(i, 2)),
      maybe(delegate(i, 'shop'), 3),
      maybe(delegate(i, 'depot')),
      maybe(destinationRule(i, 0), 5),
      maybe(destinationRule(i, 1)),
      maybe(serviceEntry(i)),
    )
    .map((lists) => [...services(i), ...lists.flat()]);
}

export interface Asked {
  readonly caller: Caller;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly method: string;
  /** Names and values exactly as they are sent; a name may be repeated. */
  readonly headers: readonly (readonly [string, string])[];
}

/** A request to a host in a cell. */
export function question(i: number): fc.Arbitrary<Asked> {
  const full = `s${i}.shop.${DOMAIN}`;
  const sent = fc.array(
    fc.tuple(fc.constantFrom('x-user', 'X-USER', 'x-other'), fc.constantFrom('', 'a', 'ab', 'A', 'b', 'b,a')),
    { maxLength: 3 },
  );
  const hosts = [
    `s${i}`,
    `s${i}.shop`,
    `s${i}.shop`,
    `s${i}.shop.svc`,
    full,
    full,
    full,
    `${full}.`,
    `${full}:8000`,
    full.toUpperCase(),
  ];
  const others = [
    `t${i}`,
    `t${i}.depot`,
    `t${i}.depot.${DOMAIN}`,
    `u${i}.shop`,
    `x.s${i}.test`,
    `X.s${i}.test:80`,
    `y.s${i}.test`,
    `z.s${i}.test`,
    `s${i}.test`,
  ];
  return (
    fc
      .record({
        caller: fc.constantFrom('web', 'test', 'narrow', 'ingress'),
        host: fc.oneof(
          { arbitrary: fc.constantFrom(...hosts), weight: 2 },
          { arbitrary: fc.constantFrom(...others), weight: 1 },
        ),
        port: fc.constantFrom(...PORTS),
        path: fc
          .tuple(
            fc.constantFrom(
              '/',
              '/a',
              '/A',
              '/a/b',
              '/A/B',
              '/ab',
              '/b',
              '/a/',
              '/b/../a',
              '/./a//b',
              '/%61',
              '/%7e%41%2Db%2f%5F%20',
              '/b/%2e%2e/a',
              String.raw`/a\b`,
              '/A/..',
              '/a/.',
            ),
            fc.constantFrom('', '?', '?q', '?q=', '?q=a', '?q=b&q=a', '?Q=ab', '?q=%61', '?r=a&q=ab', '?q=a?b'),
          )
          .map((parts) => parts.join('')),
        method: fc.constantFrom('GET', 'POST', 'PUT'),
        headers: sent,
      })
      // The edge listens on one port.
      .map((each) => (each.caller === 'ingress' ? { ...each, port: PORTS[0] } : each))
  );
}

/** Converts a sample request to a request of the model. */
export function requestOf({ caller, headers, ...rest }: Asked): Request {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const values = (name: string): string[] =>
    headers.filter(([other]) => other.toLowerCase() === name).map(([, each]) => each);
  return {
    ...rest,
    source: CALLERS[caller],
    headers: Object.fromEntries([...names].map((name) => [name, values(name)])),
  };
}
