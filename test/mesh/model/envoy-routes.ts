// The routes in the configuration of an Envoy, for settings that no answer shows: timeouts, retries, mirrors, weights.
import type { Rule, Target } from '../../../src/traffic/index.ts';
import { ADMIN_PORT } from '../bootstrap.ts';
import type { Proxy } from '../mesh.ts';

interface Fraction {
  readonly numerator?: number;
  readonly denominator?: 'HUNDRED' | 'MILLION';
}

interface RouteAction {
  readonly cluster?: string;
  readonly weighted_clusters?: { readonly clusters: readonly { readonly name: string; readonly weight: number }[] };
  readonly timeout?: string;
  readonly retry_policy?: {
    readonly num_retries?: number;
    readonly retry_on?: string;
  };
  readonly request_mirror_policies?: readonly {
    readonly cluster: string;
    readonly runtime_fraction: { readonly default_value: Fraction };
  }[];
}

interface Dump {
  readonly configs: readonly {
    readonly dynamic_route_configs?: readonly {
      readonly route_config: {
        readonly name: string;
        readonly virtual_hosts?: readonly {
          readonly routes?: readonly { readonly name: string; readonly route?: RouteAction }[];
        }[];
      };
    }[];
  }[];
}

/** The settings of a route, in comparable form. */
type RouteSettings = Readonly<Record<string, unknown>>;

/** The routes that istiod has pushed to a proxy, by port and name. */
export async function pushedRoutes({ address }: Proxy): Promise<ReadonlyMap<string, RouteSettings>> {
  const response = await fetch(`http://${address}:${ADMIN_PORT}/config_dump`);
  const { configs } = (await response.json()) as Dump;
  const tables = configs.flatMap(({ dynamic_route_configs: all = [] }) => all.map((each) => each.route_config));
  return new Map(
    tables.flatMap(({ name: table, virtual_hosts: hosts = [] }) => {
      const [port] = /\d+/.exec(table) ?? [];
      const routes = hosts.flatMap(({ routes: all = [] }) => all);
      return routes.flatMap(({ name, route }) => (route === undefined ? [] : [[`${port} ${name}`, settingsOf(route)]]));
    }),
  );
}

function settingsOf(route: RouteAction): RouteSettings {
  const { cluster, weighted_clusters: weighted, timeout, retry_policy: retries } = route;
  const all = weighted?.clusters ?? [{ name: cluster!, weight: 100 }];
  const total = all.reduce((sum, { weight }) => sum + weight, 0);
  return {
    destinations: all.map(({ name, weight }) => ({ cluster: name, weight: (100 * weight) / total })),
    timeout,
    retries: { attempts: retries?.num_retries ?? 0, on: retries?.retry_on ?? '' },
    mirrors: (route.request_mirror_policies ?? []).map((each) => ({
      cluster: each.cluster,
      percentage: percentageOf(each.runtime_fraction.default_value),
    })),
  };
}

function percentageOf({ numerator = 0, denominator = 'HUNDRED' }: Fraction): number {
  return denominator === 'HUNDRED' ? numerator : numerator / 10_000;
}

/** The expected settings for a rule of the model; undefined if it is not a route of a VirtualService. */
export function expectedOf({ virtualService, action }: Rule): RouteSettings | undefined {
  if (virtualService === undefined || action.kind !== 'route') return undefined;
  const { destinations, mirrors, timeout = '0s', retries } = action;
  return {
    destinations: destinations.map((each) => ({ cluster: clusterOf(each), weight: each.weight })),
    timeout,
    retries: { attempts: retries.attempts, on: retries.on },
    mirrors: mirrors.map((each) => ({ cluster: clusterOf(each), percentage: each.percentage })),
  };
}

function clusterOf({ host, subset = '', port }: Target): string {
  return `outbound|${port}|${subset}|${host}`;
}
