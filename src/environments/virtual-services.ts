// VirtualServices as the plan of one environment reads them: without what changes with every other environment that has
// routes there. So a write on behalf of one of them wakes the others only where it concerns them.
import type { IstioMatch } from '../api/dynamicenv.ts';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { defineModel } from '../controller/index.ts';
import type { Facts, Model } from '../controller/index.ts';
import { keyOf, refOf } from '../kube/index.ts';
import type { Ref } from '../kube/index.ts';
import { isInserted, isRouteOf } from '../traffic/istio/inserted-routes.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import type { HttpMatch, HttpRoute } from '../traffic/istio/objects.ts';
import { derive } from '../watchable/index.ts';
import type { Lookup } from '../watchable/index.ts';
import { uniqueVersion } from './names.ts';
import { environmentsOf, WATCH_ANNOTATION } from './ownership.ts';
import type { Settings } from './settings.ts';
import { byHost, VirtualServices } from './tables.ts';

/** How VirtualServices are found: by the environments that edited them, by hosts, by what delegates to them. */
type Index = 'environment' | 'delegate' | 'host' | 'destination';
type Domain = Pick<Settings, 'clusterDomain'>;

interface ServiceMaps {
  /** By `INDEX VALUE`: the keys of VirtualServices. */
  readonly keys: Lookup<string, readonly string[]>;
  /** By key: a VirtualService as people wrote it. */
  readonly bases: Lookup<string, VirtualService>;
  /** By `KEY ENVIRONMENT`: a VirtualService with what concerns the environment. */
  readonly seen: Lookup<string, VirtualService>;
}

/** Finds VirtualServices, as people wrote them: without routes of environments. */
export function findBaseServices(view: Facts, index: Index, under: string, domain: Domain): readonly VirtualService[] {
  const { keys, bases } = view.model(mapsFor(domain));
  const found = view.read.get(keys, `${index} ${under}`) ?? [];
  return found.flatMap((key) => view.read.get(bases, key) ?? []);
}

/** Finds VirtualServices, each with what concerns an environment: its routes, and those that may take its requests. */
export function findSeenServices(
  view: Facts,
  { metadata }: DynamicEnv,
  index: Index,
  under: string,
  domain: Domain,
): readonly VirtualService[] {
  const { keys } = view.model(mapsFor(domain));
  const found = view.read.get(keys, `${index} ${under}`) ?? [];
  return found.flatMap((key) => getSeenService(view, metadata, refOf(key), domain) ?? []);
}

/** A VirtualService with what concerns an environment. */
export function getSeenService(view: Facts, env: Ref, service: Ref, domain: Domain): VirtualService | undefined {
  return view.read.get(view.model(mapsFor(domain)).seen, `${keyOf(service)} ${keyOf(env)}`);
}

const models = new Map<string, Model<ServiceMaps>>();

/** The maps: what a short name stands for depends on the domain of the cluster. */
function mapsFor({ clusterDomain }: Domain): Model<ServiceMaps> {
  let model = models.get(clusterDomain);
  if (model === undefined) models.set(clusterDomain, (model = defineMaps(clusterDomain)));
  return model;
}

function defineMaps(clusterDomain: string): Model<ServiceMaps> {
  const kindOf = (index: string) =>
    index === 'host' || index === 'destination' ? byHost({ clusterDomain }).virtualServices : VirtualServices;
  return defineModel((facts) => {
    // Read anew with every version of a VirtualService, once for all environments: it is never the same again.
    const parts = derive('parts of VirtualServices', (read, key: string) => partsOf(facts(read), refOf(key)), {
      equals: Object.is,
      isolate: 'none',
    });
    return {
      keys: derive('keys of VirtualServices', (read, key: string) => {
        const [index, under] = parted(key);
        return facts(read)
          .index(kindOf(index), index, under)
          .map(({ metadata }) => keyOf(metadata));
      }),
      bases: derive('VirtualServices without environments', (read, key: string) => {
        const own = read.get(parts, key);
        return own && withParts(own, ({ isInserted: isOfSome }) => !isOfSome);
      }),
      seen: derive('VirtualServices as environments see them', (read, key: string) => {
        const [service, environment] = parted(key);
        const own = read.get(parts, service);
        return own && seenBy(own, facts(read), refOf(environment));
      }),
    };
  });
}

function parted(key: string): readonly [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}

/** A route, and whether it is that of some environment. */
interface RoutePart {
  readonly route: HttpRoute;
  readonly isInserted: boolean;
}

/** A VirtualService taken apart. */
interface Parts {
  readonly service: VirtualService;
  readonly routes: readonly RoutePart[];
  /** By version: the environments that it names. */
  readonly environments: ReadonlyMap<string, readonly string[]>;
}

function partsOf(facts: Facts, ref: Ref): Parts | undefined {
  const service = facts.get(VirtualService, ref);
  if (service === undefined) return undefined;
  return {
    service,
    routes: (service.spec?.http ?? []).map((route) => ({ route, isInserted: isInserted(route) })),
    environments: Map.groupBy(environmentsOf(service), (key) => uniqueVersion(refOf(key))),
  };
}

function seenBy(parts: Parts, facts: Facts, env: Ref): VirtualService {
  const owner = { version: uniqueVersion(env), taken: [] };
  const isNamed = ({ name = '' }: HttpRoute): boolean => name.includes(`-${owner.version}-`);
  const keys = (facts.get(DynamicEnv, env)?.spec?.istioMatches ?? []).map(keyHeaders);
  return withParts(
    parts,
    ({ route, isInserted: isOfSome }) =>
      !isOfSome ||
      keys.some((headers) => mayTake(route, headers)) ||
      (isNamed(route) && isRouteOf(owner, parts.service, route)),
    owner.version,
  );
}

/** A VirtualService with some of its routes, and the names of the environments that these are of or that have a version. */
function withParts(
  { service, routes, environments }: Parts,
  isKept: (part: RoutePart) => boolean,
  version?: string,
): VirtualService {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...metadata } = service.metadata;
  const kept = routes.filter(isKept);
  const versions = kept.flatMap(({ route: { route = [] } }) => route.map(({ destination }) => destination?.subset));
  const names = [...new Set([version, ...versions])].flatMap((each = '') => environments.get(each) ?? []);
  const { annotations } = metadata;
  const isNamed = annotations?.[WATCH_ANNOTATION] !== undefined;
  return {
    ...service,
    metadata: {
      ...metadata,
      ...(isNamed && { annotations: { ...annotations, [WATCH_ANNOTATION]: names.join(',') } }),
    },
    ...(service.spec?.http !== undefined && { spec: { ...service.spec, http: kept.map(({ route }) => route) } }),
  };
}

type KeyHeader = readonly [name: string, value: string];

/** The headers by which requests of a match are known. */
function keyHeaders({ headers = {} }: IstioMatch): readonly KeyHeader[] {
  return Object.entries(headers).flatMap(([name, { exact }]) => (exact === undefined ? [] : [[name, exact] as const]));
}

/** Whether a route of another environment may fit a request with these headers. */
function mayTake({ match = [] }: HttpRoute, headers: readonly KeyHeader[]): boolean {
  return match.length === 0 || match.some((entry) => !isApart(entry, headers));
}

/** Whether a header tells all requests of one from those of the other, as the keys of environments nearly always do. */
function isApart({ headers: asked = {} }: HttpMatch, headers: readonly KeyHeader[]): boolean {
  return headers.some(([name, value]) => {
    const other = asked[name]?.exact;
    return other !== undefined && other !== value;
  });
}
