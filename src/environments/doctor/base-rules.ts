// Base routes that conflict with environments: conditions on headers that environments use, and routes that proxies
// reject.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { BAGGAGE } from '../../traffic/baggage.ts';
import { routerOf } from '../../traffic/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { Service } from '../../traffic/services.ts';
import { matchesOf } from '../requests/matches.ts';
import { itemsOf } from '../names.ts';
import type { Settings } from '../settings.ts';
import type { Finding } from './finding.ts';
import { about } from './finding.ts';
import { namedRoutes } from './routes.ts';
import type { Way } from './routes.ts';

/** Problems of the base routes for the hosts of a workload. */
export function baseRuleFindings(view: Facts, ways: readonly Way[], workload: Ref, settings: Settings): Finding[] {
  const keys = keyHeaders(view, workload, settings);
  return ways.flatMap((way) => [
    ...[...new Set([...way.listing, ...way.leading])].flatMap((service) => headersInUse(service, keys)),
    ...refused(view, way, settings),
  ]);
}

/** The headers that environments of a workload match on. */
function keyHeaders(view: Facts, workload: Ref, settings: Settings): ReadonlySet<string> {
  const own = view
    .list(DynamicEnv)
    .filter((env) => itemsOf(env).subsets.some((each) => keyOf(each) === keyOf(workload)))
    .flatMap(({ spec }) => matchesOf(spec, settings).flatMap(({ headers = {} }) => Object.keys(headers)));
  return new Set([settings.keyHeader, BAGGAGE, ...own].map((name) => name.toLowerCase()));
}

function headersInUse(service: VirtualService, keys: ReadonlySet<string>): Finding[] {
  const routes = namedRoutes(service).flatMap(({ name, route }) =>
    (route.match ?? []).flatMap(({ headers = {}, withoutHeaders = {} }) =>
      [...Object.keys(headers), ...Object.keys(withoutHeaders)].map((header) => ({
        header: header.toLowerCase(),
        name,
      })),
    ),
  );
  return [...Map.groupBy(routes, ({ header }) => header)].map(([header, uses]) => {
    const names = [...new Set(uses.map(({ name }) => name))].join(', ');
    return {
      severity: keys.has(header) ? 'warning' : 'note',
      reason: 'HeaderInUse',
      ...about(service),
      message: `route ${names} matches on the header ${header}: it may catch requests that carry it as the key of an environment`,
      advice: 'use another header for the keys of environments',
    };
  });
}

/** A route that proxies reject, and with it every update of its port. */
function refused(view: Facts, { host, service, namespace }: Way, { clusterDomain }: Pick<Settings, 'clusterDomain'>) {
  const router = routerOf(view, { clusterDomain });
  const ports = view.get(Service, { name: service, namespace })?.spec?.ports ?? [];
  const rules = ports.flatMap(({ port }) =>
    router.rulesFor({ namespace }, host, port).tiers.flatMap((tier) => tier.rules),
  );
  return rules.flatMap(({ refused: why, virtualService, delegate, name, index }): Finding[] =>
    why === undefined || virtualService === undefined
      ? []
      : [
          {
            severity: 'error',
            reason: 'RefusedByProxy',
            kind: VirtualService.kind,
            object: delegate ?? virtualService,
            message: `proxies refuse route ${name === '' ? `http[${index}]` : `"${name}"`} (${why}), and with it every update of its port, including those of environments`,
            advice: 'fix the route',
          },
        ],
  );
}
