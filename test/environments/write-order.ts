// The order in which things happened to the objects of a cluster, to compare it with the order of a plan.
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { ReportedChange, Write } from '../../src/controller/index.ts';
import { environmentsOf } from '../../src/environments/ownership.ts';
import { keyOf } from '../../src/kube/index.ts';
import type { AnyKind, Ref } from '../../src/kube/index.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';

/** A write that a server has accepted. */
export interface LoggedWrite {
  /** `Kind namespace/name` */
  readonly object: string;
  /** The object whose plan wrote it (`DynamicEnv shop/feature`), or another name of the author. */
  readonly by: string;
}

/** `Kind namespace/name` */
export const idOf = ({ kind }: Pick<AnyKind, 'kind'>, ref: Ref): string => `${kind} ${keyOf(ref)}`;

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
          (own.includes(write) && (isEnvironment(targetOf(write)) || isOfWorkload(nameOf(routes), write))),
      ),
    );
    return [own, ...withRoutes].map((promised) => promised.map(targetOf));
  });
}

const isEnvironment = (id: string): boolean => id.startsWith(`${DynamicEnv.kind} `);

const nameOf = ({ before, after }: Write): string => (after ?? before)!.metadata.name;

/** Clones and rules begin with the name of their workload, as do the VirtualServices of these tests. */
const isOfWorkload = (workload: string, write: Write): boolean => nameOf(write).startsWith(`${workload}-`);

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
