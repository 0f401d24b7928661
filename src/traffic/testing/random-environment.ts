// Environments in random worlds, with routes that are written correctly or incorrectly.
import * as fc from 'fast-check';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { AnyObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { withRoutes } from '../istio/insert-routes.ts';
import type { EditedRoutes } from '../istio/insert-routes.ts';
import type { HttpRoute, VirtualService } from '../istio/objects.ts';
import { routes } from './random-routes.ts';
import type { Words } from './random-routes.ts';
import { cell, PORTS, secondHosts, sidecarHosts } from './random-world.ts';
import { surroundings } from './surroundings.ts';

export const HOST = 's0.shop.svc.cluster.local';
export const VERSION = 'team-e';
/** Another environment, whose name has that of the first as a prefix. */
export const OTHER = 'team-e-2';
export const DEFAULT_VERSION = 'v1';

const condition = fc.constantFrom(
  { exact: 'a' },
  { exact: 'ab' },
  { exact: 'b' },
  { prefix: 'a' },
  { regex: 'a.*' },
  { regex: 'a|b' },
);

/** The matches of an environment. */
export const keys: fc.Arbitrary<IstioMatch[]> = fc.array(
  fc.record(
    {
      headers: fc.dictionary(fc.constantFrom('x-user', 'X-Env'), condition, { minKeys: 1, maxKeys: 2 }),
      sourceLabels: fc.constantFrom<Record<string, string>>({ app: 'web' }, { tier: 'x' }),
    },
    { requiredKeys: ['headers'] },
  ),
  { minLength: 1, maxLength: 2 },
);

const WORDS: Words = {
  namespaces: ['shop'],
  ports: PORTS,
  gateways: ['istio-system/ingress'],
  authorities: [HOST, 's0.shop'],
  sourceLabels: [{ app: 'web' }, { app: 'web', tier: 'x' }],
  destinations: [HOST],
  subsets: ['v1', 'v1', 'v2'],
};

/** A world in which nearly every route leads to the base, with many routes to insert and many to conflict with. */
const dense: fc.Arbitrary<readonly AnyObject[]> = fc.tuple(cell(0), routes('dense', WORDS)).map(([objects, http]) => {
  const others = objects.filter(({ kind }) => kind !== 'VirtualService' && kind !== 'DestinationRule');
  const subsets = ['v1', 'v2', 'v3'].map((version) => ({ name: version, labels: { version } }));
  // Some routes use the headers of the keys.
  const text = JSON.stringify(http)
    .replaceAll(`{"host":"${HOST}"}`, `{"host":"${HOST}","subset":"v1"}`)
    .replaceAll('":path":', '"x-user":')
    .replaceAll('"x-other":', '"X-Env":');
  const main = { name: 'main', route: [{ destination: { host: HOST, subset: 'v1' } }] };
  return [
    ...others,
    istioObject('VirtualService', 'dense', { hosts: [HOST], http: [...(JSON.parse(text) as object[]), main] }),
    istioObject('DestinationRule', 'dense', { host: HOST, subsets }),
  ];
});

/** Worlds for environments. */
export const worlds: fc.Arbitrary<readonly AnyObject[]> = fc
  .tuple(fc.oneof(cell(0).map(leading), dense), sidecarHosts(0))
  .map(([objects, sidecar]) => [...objects, ...surroundings(sidecar, secondHosts(0))]);

function istioObject(kind: string, name: string, spec: object): AnyObject {
  return { apiVersion: 'networking.istio.io/v1beta1', kind, metadata: { name, namespace: 'shop' }, spec };
}

/** Makes more routes lead to the base than would by chance. */
function leading(written: readonly AnyObject[]): readonly AnyObject[] {
  const base = `"host":"${HOST}","subset":"${DEFAULT_VERSION}"`;
  return JSON.parse(
    JSON.stringify(written)
      .replaceAll('"subset":"v2"', `"subset":"${DEFAULT_VERSION}"`)
      .replaceAll(/"host":"[nu]0"/g, base),
  ) as readonly AnyObject[];
}

interface Edit extends EditedRoutes {
  /** The routes before. */
  readonly before: readonly HttpRoute[];
  readonly keys: readonly IstioMatch[];
}

const isOwn = ({ name = '' }: HttpRoute): boolean => name.startsWith(`dynamic-environment-${VERSION}-s0-`);

/** Ways to write the routes of an environment: the correct one, `inserted`, and incorrect ones. */
export const WAYS = {
  inserted: ({ http }: Edit) => http,
  appended: ({ http, before }: Edit) => [...before, ...http.filter((each) => !before.includes(each))],
  'for everybody': ({ http }: Edit) => http.map((each) => (isOwn(each) ? { ...each, match: [] } : each)),
  /** The action differs from that of the base route. */
  'with another time limit': ({ http }: Edit) => http.map((each) => (isOwn(each) ? { ...each, timeout: '99s' } : each)),
  /** The key replaces the condition of a base route on the same header. */
  'header replaced': ({ http, copies, keys: all }: Edit) =>
    http.map((each) => {
      const copy = copies.find(({ route }) => route === each);
      if (copy === undefined) return each;
      const { headers: key = {}, sourceLabels } = all[copy.match]!;
      const names = new Set(Object.keys(key).map((name) => name.toLowerCase()));
      const match = (copy.base.match ?? [{}]).map((entry) => {
        const others = Object.entries(entry.headers ?? {}).filter(([name]) => !names.has(name.toLowerCase()));
        const labels = { ...entry.sourceLabels, ...sourceLabels };
        return { ...entry, headers: { ...Object.fromEntries(others), ...key }, sourceLabels: labels };
      });
      return { ...each, match };
    }),
  /** Routes of other environments with the same name prefix are removed. */
  'owned by prefix': ({ http }: Edit) =>
    http.filter((each) => isOwn(each) || !each.name?.startsWith(`dynamic-environment-${VERSION}`)),
} as const satisfies Readonly<Record<string, (edit: Edit) => readonly HttpRoute[]>>;
export type Way = keyof typeof WAYS;

export interface RandomEnvironment {
  readonly written: readonly AnyObject[];
  readonly keys: readonly IstioMatch[];
  /** The matches of another environment that exists already. */
  readonly others: readonly IstioMatch[] | undefined;
  readonly way: Way;
  /** Whether there are pods, so that load balancing makes a difference. */
  readonly hasPods: boolean;
}

/** The objects without and with an environment, and the VirtualServices that differ. */
export function objectsOf({ written, keys: own, others, way, hasPods }: RandomEnvironment) {
  const base = hasPods ? ['v1', 'v2', 'v3'].map((each) => deployment(`base-${each}`, each)) : [];
  const inPlace = others === undefined ? written : written.map((each) => edited(each, OTHER, others, 'inserted'));
  const before = [...inPlace, ...base, ...(others === undefined ? [] : madeFor(OTHER, hasPods))];
  const after = before.map((each) => edited(each, VERSION, own, way));
  const changed = after.filter((each, i) => each !== before[i]).map(({ metadata }) => metadata);
  return { before, after: [...after, ...madeFor(VERSION, hasPods)], changed };
}

/** Adds the routes of an environment to a VirtualService; other objects are unchanged. */
function edited(object: AnyObject, version: string, matches: readonly IstioMatch[], way: Way): AnyObject {
  if (object.kind !== 'VirtualService') return object;
  const service = object as unknown as VirtualService;
  const insertion = {
    workload: { name: 's0', namespace: 'shop' },
    clone: `s0-${version}`,
    hosts: [HOST],
    defaultVersion: DEFAULT_VERSION,
    clusterDomain: 'cluster.local',
  };
  const wish = { owner: { version, taken: [] }, matches, insertions: [insertion], untouched: [] };
  const made = withRoutes(service, [wish]);
  const http = WAYS[way]({ ...made, before: service.spec?.http ?? [], keys: matches });
  if (jsonEqual(http, service.spec?.http)) return object;
  return { ...service, spec: { ...service.spec, http } };
}

function deployment(name: string, version: string): AnyObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop' },
    spec: { template: { metadata: { labels: { pool: 'a', version } } } },
  };
}

/** The DestinationRule of an environment, and its clone. */
function madeFor(version: string, hasPods: boolean): readonly AnyObject[] {
  const rule = istioObject('DestinationRule', version, {
    host: HOST,
    subsets: [{ name: version, labels: { version } }],
  });
  return [rule, ...(hasPods ? [deployment(`clone-${version}`, version)] : [])];
}
