// Keeps a part from having two writers. `run` looks for somebody who holds the lease of a part, and `up` holds the leases
// of its own cluster, so that it is found.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import { Lease } from '../../kube/lease.ts';
import { keyOf } from '../../kube/objects.ts';
import { microTime } from '../../kube/times.ts';
import { failure } from '../exit.ts';
import { version } from '../version/version.ts';
import type { Part } from './parts.ts';

type Named = Pick<Part, 'name' | 'lease'>;

/** The longest time that a Lease can say: the cluster itself ends with its holder. */
const FOREVER_SECONDS = 2 ** 31 - 1;

/** Annotation of a lease: the version of what holds it. */
const VERSION = 'offshoot.dev/version';

/**
 * Throws when another process holds the lease of a part and we would not wait for it: without leader election, or with
 * a lease in another namespace.
 */
export async function refuseSecondWriter(
  client: Client,
  parts: readonly Named[],
  { namespace, leaderElect }: { readonly namespace: string; readonly leaderElect: boolean },
  now = Date.now(),
): Promise<void> {
  for (const { name, lease } of parts) {
    const held = (await leasesNamed(client, lease, namespace))
      .filter(({ metadata }) => !leaderElect || metadata.namespace !== namespace)
      .find((each) => isHeld(each, now));
    if (held === undefined) continue;
    const holder = held.spec!.holderIdentity!;
    const waiting = `--leader-elect --namespace ${held.metadata.namespace}`;
    throw failure(
      'AlreadyRunning',
      `${holder} runs the controllers of ${name} for this cluster (Lease ${keyOf(held.metadata)}), and two would undo each other's writes: stop it${isUp(holder) ? ', or start it as "offshoot up --no-controllers"' : ''}; or stand by for it with ${waiting}`,
    );
  }
}

export interface LeaseHolder {
  readonly part: string;
  readonly holder: string;
  readonly namespace: string;
  /** Of the program, where it says so. */
  readonly version?: string;
}

/** Who runs which part, as far as its leases say. */
export async function leaseHolders(
  client: Client,
  parts: readonly Named[],
  namespace: string,
  now = Date.now(),
): Promise<readonly LeaseHolder[]> {
  const held = await Promise.all(
    parts.map(async ({ name: part, lease }) => {
      const leases = await leasesNamed(client, lease, namespace);
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

/** By the clocks of both machines, which may differ: whoever is wrong by seconds gets the same answer on the next try. */
function isHeld({ spec }: Lease, now: number): boolean {
  if (!spec?.holderIdentity || spec.renewTime === undefined) return false;
  return Date.parse(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000 > now;
}

/** In any namespace, or in ours where we may see no other. */
async function leasesNamed(client: Client, name: string, namespace: string): Promise<readonly Lease[]> {
  const ways = [
    async () => (await client.list(Lease, { fieldSelector: `metadata.name=${name}` })).items,
    async () => [await client.get(Lease, { name, namespace })],
  ];
  for (const way of ways) {
    try {
      return await way();
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error;
    }
  }
  return [];
}

/** Holds the leases of parts for as long as the cluster lives, which is in this process: nobody need renew them. */
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

/** Gives up the leases that an `up` before this one held; those of anybody else are left alone. */
export async function dropLeases(client: Client, names: readonly string[], namespace: string): Promise<void> {
  for (const name of names) {
    const [lease] = (await client.list(Lease, { namespace, fieldSelector: `metadata.name=${name}` })).items;
    if (lease !== undefined && isUp(lease.spec?.holderIdentity ?? '')) await client.delete(Lease, lease.metadata);
  }
}

function isUp(holder: string): boolean {
  return holder.startsWith('offshoot-up_');
}
