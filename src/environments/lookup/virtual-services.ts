// VirtualServices as the plan of one environment reads them: without the routes of other environments that do not
// concern it. So a write for one environment triggers a reconcile of another only if it concerns that.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf, withAnnotations } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { isInserted, isRouteOf } from '../../traffic/istio/inserted-routes.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import { derive } from '../../watchable/index.ts';
import type { Lookup } from '../../watchable/index.ts';
import { indexInserted, keyHeaders } from './inserted-index.ts';
import type { InsertedIndex } from './inserted-index.ts';
import { matchesOf } from '../requests/matches.ts';
import { uniqueVersion } from '../names.ts';
import { environmentsOf, WATCH_ANNOTATION } from '../identity/ownership.ts';
import type { Settings } from '../settings.ts';
import { byHost, VirtualServices } from '../tables.ts';

/** The indexes of VirtualServices: by environment, by host, by destination, by delegate. */
type Index = 'environment' | 'delegate' | 'host' | 'destination';
type Domain = Pick<Settings, 'clusterDomain' | 'keyHeader'>;

interface ServiceMaps {
  /** By `INDEX VALUE`: the keys of VirtualServices. */
  readonly keys: Lookup<string, readonly string[]>;
  /** By key: a VirtualService without routes of environments. */
  readonly bases: Lookup<string, VirtualService>;
  /** By `KEY ENVIRONMENT`: a VirtualService with the routes that concern the environment. */
  readonly seen: Lookup<string, VirtualService>;
}

/** Finds VirtualServices, without routes of environments. */
export function findBaseServices(view: Facts, index: Index, under: string, domain: Domain): readonly VirtualService[] {
  const { keys, bases } = view.model(mapsFor(domain));
  const found = view.read.get(keys, `${index} ${under}`) ?? [];
  return found.flatMap((key) => view.read.get(bases, key) ?? []);
}

/** Finds VirtualServices with the routes that concern an environment: its own, and those that may take its requests. */
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

/** A VirtualService with the routes that concern an environment. */
export function getSeenService(view: Facts, env: Ref, service: Ref, domain: Domain): VirtualService | undefined {
  return view.read.get(view.model(mapsFor(domain)).seen, `${keyOf(service)} ${keyOf(env)}`);
}

const models = new Map<string, Model<ServiceMaps>>();

/** The maps for these settings, which define the full form of short names and the header of keys. */
function mapsFor(domain: Domain): Model<ServiceMaps> {
  const id = `${domain.clusterDomain} ${domain.keyHeader}`;
  let model = models.get(id);
  if (model === undefined) models.set(id, (model = defineMaps(domain)));
  return model;
}

function defineMaps({ clusterDomain, keyHeader }: Domain): Model<ServiceMaps> {
  const kindOf = (index: string) =>
    index === 'host' || index === 'destination' ? byHost({ clusterDomain }).virtualServices : VirtualServices;
  return defineModel((facts) => {
    // Computed once for each version of a VirtualService, for all environments; never equal to an earlier result.
    const parts = derive('parts of VirtualServices', (read, key: string) => partsOf(facts(read), refOf(key)), {
      equals: Object.is,
      isolate: 'none',
    });
    return {
      keys: derive('keys of VirtualServices', (read, key: string) => {
        const [index, under] = splitKey(key);
        return facts(read)
          .index(kindOf(index), index, under)
          .map(({ metadata }) => keyOf(metadata));
      }),
      bases: derive('VirtualServices without environments', (read, key: string) => {
        const own = read.get(parts, key);
        if (own === undefined) return undefined;
        return withRoutes(
          own,
          own.base.map((at) => own.routes[at]!),
        );
      }),
      seen: derive('VirtualServices as environments see them', (read, key: string) => {
        const [service, environment] = splitKey(key);
        const own = read.get(parts, service);
        return own && seenBy(own, facts(read), refOf(environment), keyHeader);
      }),
    };
  });
}

function splitKey(key: string): readonly [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}

/** A VirtualService taken apart. */
interface Parts {
  readonly service: VirtualService;
  readonly routes: readonly HttpRoute[];
  /** Positions of the base routes. */
  readonly base: readonly number[];
  /** Index of the inserted routes. */
  readonly inserted: InsertedIndex;
  /** Headers that base routes match on, in lower case. */
  readonly baseHeaders: ReadonlySet<string>;
  /** By version: the environments that it names. */
  readonly environments: ReadonlyMap<string, readonly string[]>;
}

function partsOf(facts: Facts, ref: Ref): Parts | undefined {
  const service = facts.get(VirtualService, ref);
  if (service === undefined) return undefined;
  const routes = service.spec?.http ?? [];
  const base = [...routes.keys()].filter((at) => !isInserted(routes[at]!));
  const asked = base.flatMap((at) => routes[at]!.match ?? []);
  return {
    service,
    routes,
    base,
    inserted: indexInserted(
      routes.map((route) => (isInserted(route) ? { route, asked: (route.match ?? []).map(keyHeaders) } : undefined)),
    ),
    baseHeaders: new Set(asked.flatMap(({ headers = {} }) => Object.keys(headers).map((name) => name.toLowerCase()))),
    environments: Map.groupBy(environmentsOf(service), (key) => uniqueVersion(refOf(key))),
  };
}

function seenBy(parts: Parts, facts: Facts, env: Ref, keyHeader: string): VirtualService {
  const { service, routes, base, inserted, baseHeaders } = parts;
  const owner = { version: uniqueVersion(env), taken: [] };
  const keys = matchesOf(facts.get(DynamicEnv, env)?.spec, { keyHeader }).map((match) => keyHeaders(match));
  const takers = keys.flatMap((headers) => inserted.asking(headers, baseHeaders));
  const own = inserted.named(owner.version).filter((at) => isRouteOf(owner, service, routes[at]!));
  const kept = [...new Set([...base, ...takers, ...own])].sort((a, b) => a - b);
  return withRoutes(
    parts,
    kept.map((at) => routes[at]!),
    owner.version,
  );
}

/** A VirtualService with some of its routes, and the names of their environments and of those with `version`. */
function withRoutes({ service, environments }: Parts, http: readonly HttpRoute[], version?: string): VirtualService {
  const { resourceVersion: _version, generation: _generation, managedFields: _fields, ...metadata } = service.metadata;
  const versions = http.flatMap(({ route = [] }) => route.map(({ destination }) => destination?.subset));
  const names = [...new Set([version, ...versions])].flatMap((each = '') => environments.get(each) ?? []);
  const isNamed = metadata.annotations?.[WATCH_ANNOTATION] !== undefined;
  return {
    ...withAnnotations({ ...service, metadata }, isNamed ? { [WATCH_ANNOTATION]: names.join(',') } : {}),
    ...(service.spec?.http !== undefined && { spec: { ...service.spec, http } }),
  };
}
