// Prevents two writers for one part. `run` checks whether another process holds the lease of a part, and `up` holds the
// leases of its own cluster, so that `run` finds them.
import type { Logger } from '../../controller/index.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { Lease } from '../../kube/lease.ts';
import { keyOf } from '../../kube/objects.ts';
import { microTime } from '../../kube/times.ts';
import { failure } from '../exit.ts';
import { version } from '../version/version.ts';
import type { Part } from './parts.ts';

type Named = Pick<Part, 'name' | 'lease' | 'other'>;

/** The longest duration of a Lease: the cluster itself ends with its holder. */
const FOREVER_SECONDS = 2 ** 31 - 1;

/** How much clocks of two machines may differ. */
const LONGEST_SKEW_MS = 3_600_000;

/** Annotation of a Lease: the version of its holder. */
const VERSION = 'offshoot.dev/version';

interface SecondWriterOptions {
  /** The namespace of our own leases. */
  readonly namespace: string;
  readonly leaderElect: boolean;
  /** The only namespaces that are managed. */
  readonly namespaces?: readonly string[] | undefined;
  readonly logger: Logger;
}

/** Throws if another process holds a lease of a part, in whatever namespace, unless leader election waits for it. */
export async function refuseSecondWriter(
  client: Client,
  parts: readonly Named[],
  { namespace, leaderElect, namespaces, logger }: SecondWriterOptions,
  now = Date.now(),
): Promise<void> {
  const unchecked: string[] = [];
  for (const part of parts) {
    for (const lease of leasesOf(part)) {
      const { leases, everywhere } = await leasesNamed(client, lease, namespace);
      if (!everywhere) unchecked.push(lease);
      const held = leases.find((each) => isHeld(each, now));
      if (held !== undefined && !leaderElect) throw alreadyRunning(part, held);
    }
  }
  if (unchecked.length === 0) return;
  // Controllers of single namespaces do not have the permission by intention.
  logger[namespaces === undefined ? 'warn' : 'info'](
    { leases: unchecked },
    'could not check other namespaces for another operator that runs the same controllers, which would undo our writes: this needs the permission to list leases.coordination.k8s.io in the whole cluster',
  );
}

function alreadyRunning(part: Named, { metadata, spec }: Lease): Error {
  const holder = spec!.holderIdentity!;
  const hints = [
    'stop it',
    isUp(holder) ? 'start it as "offshoot up --no-controllers"' : undefined,
    metadata.name === part.other?.lease ? `leave that work to it with ${part.other.flag}` : undefined,
    'wait for it with --leader-elect',
  ];
  return failure(
    'AlreadyRunning',
    `${holder} runs the controllers of ${part.name} for this cluster (Lease ${keyOf(metadata)}), and two would undo each other's writes: ${hints.filter((hint) => hint !== undefined).join(', or ')}`,
  );
}

/** The names of the leases for whose holders a part waits. */
export function leasesOf({ lease, other }: Pick<Part, 'lease' | 'other'>): readonly string[] {
  return [lease, ...(other === undefined ? [] : [other.lease])];
}

/**
 * The leases under which others may run a part, in another namespace or under another name: leader election observes
 * whether they are renewed.
 */
export async function leasesElsewhere(
  client: Client,
  part: Named,
  namespace: string,
  signal: AbortSignal,
  now = Date.now(),
): Promise<readonly Lease[]> {
  const named = await Promise.all(leasesOf(part).map((name) => leasesNamed(client, name, namespace, signal)));
  const isOurs = ({ metadata }: Lease): boolean => metadata.name === part.lease && metadata.namespace === namespace;
  // Observing takes time, so what expired long ago by any clock is left out.
  const all = named.flatMap(({ leases }) => leases);
  return all.filter((each) => !isOurs(each) && isHeld(each, now - LONGEST_SKEW_MS));
}

export interface LeaseHolder {
  readonly part: string;
  readonly holder: string;
  readonly namespace: string;
  /** The version of the holder, if the Lease has it. */
  readonly version?: string;
}

/** Who runs which part, by the leases. */
export async function leaseHolders(
  client: Client,
  parts: readonly Named[],
  namespace: string,
  now = Date.now(),
): Promise<readonly LeaseHolder[]> {
  const held = await Promise.all(
    parts.map(async ({ name: part, lease }) => {
      const { leases } = await leasesNamed(client, lease, namespace);
      return leases
        .filter((each) => isHeld(each, now))
        .map(({ metadata, spec }) => ({
          part,
          holder: spec!.holderIdentity!,
          namespace: metadata.namespace ?? '',
          ...(metadata.annotations?.[VERSION] && { version: metadata.annotations[VERSION] }),
        }));
    }),
  );
  return held.flat();
}

/** Compares clocks of two machines, which may differ by seconds; the next try then gives the right answer. */
function isHeld({ spec }: Lease, now: number): boolean {
  if (!spec?.holderIdentity || spec.renewTime === undefined) return false;
  return Date.parse(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000 > now;
}

/** Leases of this name in all namespaces, or in ours if we may not read others. */
async function leasesNamed(
  client: Client,
  name: string,
  namespace: string,
  signal?: AbortSignal,
): Promise<{ readonly leases: readonly Lease[]; readonly everywhere: boolean }> {
  const options = signal && { signal };
  try {
    // With this selector, a permission for this name is enough.
    const { items } = await client.list(Lease, { fieldSelector: `metadata.name=${name}`, ...options });
    return { leases: items, everywhere: true };
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  }
  try {
    return { leases: [await client.get(Lease, { name, namespace }, options)], everywhere: false };
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
    return { leases: [], everywhere: false };
  }
}

/** Holds the leases of parts as long as the cluster runs, which is in this process: they need no renewal. */
export async function holdLeases(client: Client, parts: readonly Named[], namespace: string): Promise<void> {
  const time = microTime(Date.now());
  const spec = {
    holderIdentity: `offshoot-up_${process.pid}`,
    leaseDurationSeconds: FOREVER_SECONDS,
    acquireTime: time,
    renewTime: time,
  };
  await Promise.all(
    parts.map(({ lease: name }) => {
      const metadata = { name, namespace, annotations: { [VERSION]: version() } };
      const body: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
      return client.patch(Lease, body.metadata, { type: 'apply', body, force: true }, { fieldManager: 'offshoot-up' });
    }),
  );
}

/** Deletes leases that an earlier `up` held; other leases are left alone. */
export async function dropLeases(client: Client, names: readonly string[], namespace: string): Promise<void> {
  for (const name of names) {
    const [lease] = (await client.list(Lease, { namespace, fieldSelector: `metadata.name=${name}` })).items;
    if (lease !== undefined && isUp(lease.spec?.holderIdentity ?? '')) await client.delete(Lease, lease.metadata);
  }
}

function isUp(holder: string): boolean {
  return holder.startsWith('offshoot-up_');
}
