// The world with an environment and the world without it, as far as its proof needs them. Objects of other environments
// that do not concern its requests are in neither: a hundred environments that share a VirtualService are proved
// independently, and a new one does not affect the others.
import type { Facts } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import { worldOfFacts } from '../../traffic/index.ts';
import type { MeshSettings, World } from '../../traffic/index.ts';
import { ruleHost } from '../../traffic/istio/hosts.ts';
import { isRouteOf } from '../../traffic/istio/inserted-routes.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { selects } from '../../traffic/services.ts';
import type { Settings } from '../settings.ts';
import { getSeenService } from '../lookup/virtual-services.ts';
import type { LookUp, WithoutEnvironments } from './shared.ts';
import type { Subject } from './subject.ts';

/** The mesh settings, and the header of keys. */
type ProofSettings = MeshSettings & Pick<Settings, 'keyHeader'>;

export interface Worlds {
  readonly before: World;
  readonly after: World;
}

/** The world without an environment, and the world with it. */
export function worldsOf(facts: Facts, shared: WithoutEnvironments, subject: Subject, settings: ProofSettings): Worlds {
  const after = withIt(facts, shared, subject, settings);
  return { before: withoutIt(after, subject), after };
}

function withIt(
  facts: Facts,
  shared: WithoutEnvironments,
  { environment, rules, clones }: Subject,
  settings: ProofSettings,
): World {
  const seen = (key: string) => getSeenService(facts, environment, refOf(key), settings);
  const find = (how: LookUp, value: string): readonly VirtualService[] =>
    (facts.read.get(shared.keys, `${how} ${value}`) ?? []).flatMap((key) => seen(key) ?? []);
  return {
    ...worldOfFacts(facts, settings),
    virtualServices: (host) => find('virtualServices', host),
    virtualService: (ref) => seen(keyOf(ref)),
    virtualServicesTo: (host) => find('virtualServicesTo', host),
    delegatingTo: (ref) => find('delegatingTo', keyOf(ref)),
    destinationRules: (host) => [
      ...(facts.read.get(shared.rules, host) ?? []),
      ...rules.filter((rule) => ruleHost(rule, settings.clusterDomain) === host),
    ],
    workloads: (service) => [
      ...(facts.read.get(shared.workloads, service) ?? []),
      ...(service.endpoints === undefined ? clones.filter((clone) => selects(service, clone)) : []),
    ],
  };
}

/** A world without the routes, the rules and the clones of an environment. */
function withoutIt(world: World, { owner, rules, clones }: Subject): World {
  const own = { rules: new Set(rules), clones: new Set(clones) };
  // Always the same object for the same VirtualService.
  const stripped = new Map<VirtualService, VirtualService>();
  const strip = (service: VirtualService): VirtualService => {
    let found = stripped.get(service);
    if (found === undefined) stripped.set(service, (found = withoutRoutes(service, owner)));
    return found;
  };
  return {
    ...world,
    virtualServices: (host) => world.virtualServices(host).map(strip),
    virtualService(ref) {
      const found = world.virtualService(ref);
      return found && strip(found);
    },
    virtualServicesTo: (host) => world.virtualServicesTo(host).map(strip),
    delegatingTo: (ref) => world.delegatingTo(ref).map(strip),
    destinationRules: (host) => world.destinationRules(host).filter((rule) => !own.rules.has(rule)),
    workloads: (service) => world.workloads(service).filter((each) => !own.clones.has(each)),
  };
}

function withoutRoutes(service: VirtualService, owner: Subject['owner']): VirtualService {
  const { http } = service.spec ?? {};
  const kept = http?.filter((route) => !isRouteOf(owner, service, route));
  return kept?.length === http?.length ? service : { ...service, spec: { ...service.spec, http: kept! } };
}
