// All that a cluster holds, by name, as its own discovery lists it.
import { isNotFound } from '../../src/kube/errors.ts';
import type { Client } from '../../src/kube/index.ts';

interface Resources {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }[];
}
interface Groups {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}
interface List {
  readonly items: readonly { readonly metadata: { readonly namespace?: string; readonly name: string } }[];
}

/** Kinds that come and go by themselves. */
const FLEETING =
  /^(events|pods|replicasets|controllerrevisions|endpoints|endpointslices|leases|ipaddresses|podmetrics|nodemetrics)$/;

/** What a cluster makes by itself: an account for each of its controllers, some seconds after its start, and what is in
 * every namespace. */
const OF_CLUSTER = /^(ServiceAccount kube-system\/|ServiceAccount \S+\/default$|ConfigMap \S+\/kube-root-ca\.crt$)/;

/** `Kind namespace/name` of every object that somebody made to stay. */
export async function allObjects(client: Client): Promise<readonly string[]> {
  const { groups } = await client.raw<Groups>({ path: '/apis' });
  const paths = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const found = await Promise.all(paths.map((path) => objectsBelow(client, path)));
  return [...new Set(found.flat())].filter((each) => !OF_CLUSTER.test(each)).sort();
}

async function objectsBelow(client: Client, path: string): Promise<string[]> {
  try {
    const { resources } = await client.raw<Resources>({ path });
    const lasting = resources.filter(({ name, verbs }) => verbs.includes('list') && !FLEETING.test(name));
    const lists = await Promise.all(
      lasting.map(async ({ name, kind }) => {
        const { items } = await client.raw<List>({ path: `${path}/${name}` });
        return items.map(({ metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
      }),
    );
    return lists.flat();
  } catch (error) {
    // On its way out.
    if (isNotFound(error)) return [];
    throw error;
  }
}
