// The order in which things happened to the objects of a cluster, to compare it with the order of a plan.
import { isDeepStrictEqual } from 'node:util';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { ReportedChange, Write } from '../../src/controller/index.ts';
import { environmentsOf } from '../../src/environments/identity/ownership.ts';
import { insertedName, routePrefix } from '../../src/traffic/istio/inserted-routes.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import { idOf } from '../support/recording-client.ts';
import type { LoggedWrite } from '../support/recording-client.ts';

const targetOf = ({ kind, before, after }: Write): string => idOf(kind, (after ?? before)!.metadata);

/** The differences, each with its author, in the order of the writes: by the first write, or by the one that removed. */
export function inOrder(differences: readonly Write[], log: readonly LoggedWrite[]): readonly Write[] {
  const placed = differences.map((write) => {
    const isWritten = ({ object }: LoggedWrite): boolean => object === targetOf(write);
    const at = write.after === undefined ? log.findLastIndex(isWritten) : log.findIndex(isWritten);
    return { at, write: { ...write, by: log[at]?.by ?? '' } };
  });
  return placed.sort((one, other) => one.at - other.at).map(({ write }) => write);
}

/**
 * The orders that a plan promises. Environments do not wait for each other, nor do the workloads of one for each other.
 * So it is the order of what each environment writes, and for a VirtualService with routes of no other environment its
 * place among the clone and the rule of its workload: the routes come after these, and go before these are removed.
 */
function promisedOrders(writes: readonly Write[]): readonly (readonly string[])[] {
  const environments = new Set(writes.flatMap((write) => [write.by, targetOf(write)]).filter(isEnvironment));
  return [...environments].flatMap((environment) => {
    const own = writes.filter((write) => write.by === environment || targetOf(write) === environment);
    const shared = writes.filter((write) => !own.includes(write) && isOnlyFor(environment, write));
    const withRoutes = shared.map((routes) =>
      writes.filter(
        (write) =>
          write === routes ||
          (own.includes(write) && (isEnvironment(targetOf(write)) || isServed(environment, routes, write))),
      ),
    );
    return [own, ...withRoutes].map((promised) => promised.map(targetOf));
  });
}

const isEnvironment = (id: string): boolean => id.startsWith(`${DynamicEnv.kind} `);

/** Whether a clone or rule is one that the changed routes of an environment lead to. */
function isServed(environment: string, routes: Write, { before, after }: Write): boolean {
  const version = environment.slice(`${DynamicEnv.kind} `.length).replace('/', '-');
  const prefix = routePrefix(version);
  return changedRoutes(routes)
    .filter((name) => name.startsWith(prefix))
    .some((name) => (after ?? before)!.metadata.name.startsWith(`${name.slice(prefix.length)}-${version}`));
}

/** The names of inserted routes that were added, changed or removed, without their digest. */
function changedRoutes({ before, after }: Write): readonly string[] {
  const [old, young] = [routesOf(before), routesOf(after)];
  const isIn = (routes: readonly HttpRoute[], one: HttpRoute): boolean =>
    routes.some((each) => isDeepStrictEqual(each, one));
  const changed = [...old.filter((each) => !isIn(young, each)), ...young.filter((each) => !isIn(old, each))];
  return changed.flatMap(({ name }) => insertedName(name) ?? []);
}

const routesOf = (service?: Partial<VirtualService>): readonly HttpRoute[] => service?.spec?.http ?? [];

function isOnlyFor(environment: string, { kind, before, after }: Write): boolean {
  if (kind.kind !== VirtualService.kind) return false;
  const owners = [before, after].flatMap((service) => (service === undefined ? [] : environmentsOf(service)));
  return owners.length > 0 && owners.every((key) => `${DynamicEnv.kind} ${key}` === environment);
}

/** The promised orders that a plan does not have, beside its own. */
export function misordered(planned: readonly ReportedChange[], writes: readonly Write[]) {
  const ids = planned.map((change) => idOf(change, change));
  return promisedOrders(writes).flatMap((promised) => {
    const happened = promised.filter((id) => ids.includes(id));
    const planned = ids.filter((id) => happened.includes(id));
    return planned.join() === happened.join() ? [] : [{ planned, happened }];
  });
}
