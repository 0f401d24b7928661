// The routes that environments want in VirtualServices: derived from what is observed, for the controller of
// VirtualServices. It has no clock: what must wait carries the time until which it waits.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import type { Insertion } from '../../traffic/istio/insert-routes.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { derive } from '../../watchable/index.ts';
import type { DerivedMap } from '../../watchable/index.ts';
import { decide } from '../decide.ts';
import { keepsRoutes } from '../decision.ts';
import type { Decision, Entrance, RoutedHost } from '../decision.ts';
import { factsOf, insertionOf } from '../facts.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { isPaused } from '../lifecycle/paused.ts';
import { identify } from '../identity/identity.ts';
import type { Dated } from '../identity/identity.ts';
import { matchesOf } from '../requests/matches.ts';
import { labelsProblem, ownRoots } from '../lookup/roots.ts';
import { settingsFor } from '../settings.ts';
import type { Settings } from '../settings.ts';

/** A workload whose requests a VirtualService should route to its clone, and when. */
interface TimedInsertion extends Omit<Insertion, 'hosts'> {
  readonly hosts: readonly RoutedHost[];
  /** When routes no longer wait for the clone to run; Infinity without a clone; absent: they do not wait. */
  readonly startsAt?: number;
}

/** The routes that an environment wants in one VirtualService; no insertions if its routes are only to be removed. */
interface DesiredRoutes {
  readonly insertions: readonly TimedInsertion[];
  /** Workloads whose routes are left alone. */
  readonly untouched: readonly Ref[];
  /** Why routes there can't match on source labels. */
  readonly labelsProblem?: string;
}

/** The routes that an environment wants in all VirtualServices. */
export interface EnvironmentWishes extends Dated {
  readonly owner: RouteOwner;
  readonly matches: readonly IstioMatch[];
  /** By key of the VirtualService: all that have or should have its routes. */
  readonly virtualServices: Readonly<Record<string, DesiredRoutes>>;
}

export type RouteWishes = Model<DerivedMap<string, EnvironmentWishes>>;

/** The wishes of all environments, indexed by the key of the VirtualService. */
export function routeWishes(settings: Settings): RouteWishes {
  return defineModel((facts) =>
    derive('route wishes', (read, key: string) => lookUp(facts(read), key, settings), {
      keys: (read) => facts(read).keys(DynamicEnv),
      indexes: { virtualService: ({ virtualServices }) => Object.keys(virtualServices) },
    }),
  );
}

function lookUp(view: Facts, key: string, general: Settings): EnvironmentWishes | undefined {
  const env = view.get(DynamicEnv, refOf(key));
  if (env === undefined) return undefined;
  const settings = settingsFor(env, general);
  // Without a wish, existing routes are left alone.
  if (isPaused(env)) return undefined;
  const { refusal, owner } = identify(view, env, settings);
  const isDeleted = env.metadata.deletionTimestamp !== undefined;
  // After a name collision, routes with this version belong to the other environment.
  if (refusal !== undefined && (!isDeleted || refusal.reason === 'NameCollision')) return undefined;
  // Refused writes are not known here, and need not be: no route leads to an object that does not exist.
  const facts = factsOf(view, env, owner, settings, { lookUpDesired: !isDeleted });
  return wishesOf(facts, decide(facts, settings), settings);
}

/** The wishes that follow from the decisions. */
export function wishesOf(
  facts: EnvironmentFacts,
  decisions: readonly Decision[],
  settings: Settings,
): EnvironmentWishes {
  const { env, owner } = facts;
  const untouched = decisions.filter(keepsRoutes).map(({ subset: { name, namespace } }) => ({ name, namespace }));
  const wishes = [...involvedServices(facts, decisions)].map(([key, service]) => {
    const insertions = decisions.flatMap((decision): readonly TimedInsertion[] => {
      const hosts = entrancesOf(decision).get(key)?.hosts ?? [];
      if (hosts.length === 0 || decision.action !== 'route') return [];
      const { startsAt } = decision;
      const insertion = insertionOf(env, decision.subset, [], settings);
      return [{ ...insertion, hosts, ...(startsAt !== undefined && { startsAt }) }];
    });
    const labels = labelsProblem(facts.roots.get(key) ?? ownRoots(service));
    return [key, { insertions, untouched, ...(labels !== undefined && { labelsProblem: labels }) }] as const;
  });
  return {
    environment: keyOf(env.metadata),
    createdAt: env.metadata.creationTimestamp ?? '',
    owner,
    matches: matchesOf(env.spec, settings),
    virtualServices: Object.fromEntries(wishes),
  };
}

/** The VirtualServices that should lead to an environment, and those with its routes or its name. */
export function involvedServices(
  facts: EnvironmentFacts,
  decisions: readonly Decision[],
): ReadonlyMap<string, VirtualService> {
  const services = new Map<string, VirtualService>();
  for (const decision of decisions) for (const [key, { service }] of entrancesOf(decision)) services.set(key, service);
  for (const service of facts.edited) services.set(keyOf(service.metadata), service);
  return services;
}

const NONE: ReadonlyMap<string, Entrance> = new Map();

/** The VirtualServices that should lead to a subset. */
export function entrancesOf(decision: Decision): ReadonlyMap<string, Entrance> {
  return decision.action === 'route' ? decision.entrances : NONE;
}
