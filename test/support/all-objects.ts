// Lists all objects of a cluster by name, for all kinds that its discovery has.
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

/** Kinds whose objects are created and deleted by controllers all the time. */
const EPHEMERAL =
  /^(events|pods|replicasets|controllerrevisions|endpoints|endpointslices|leases|ipaddresses|podmetrics|nodemetrics)$/;

/** Objects that a cluster creates by itself: service accounts of its controllers, and defaults of every namespace. */
const OF_CLUSTER = /^(ServiceAccount kube-system\/|ServiceAccount \S+\/default$|ConfigMap \S+\/kube-root-ca\.crt$)/;

/** `Kind namespace/name` of every object that is not ephemeral. */
export async function allObjects(client: Client): Promise<readonly string[]> {
  const { groups } = await client.raw<Groups>({ path: '/apis' });
  const paths = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const found = await Promise.all(paths.map((path) => objectsBelow(client, path)));
  return [...new Set(found.flat())].filter((each) => !OF_CLUSTER.test(each)).sort();
}

async function objectsBelow(client: Client, path: string): Promise<string[]> {
  try {
    const { resources } = await client.raw<Resources>({ path });
    const lasting = resources.filter(({ name, verbs }) => verbs.includes('list') && !EPHEMERAL.test(name));
    const lists = await Promise.all(
      lasting.map(async ({ name, kind }) => {
        const { items } = await client.raw<List>({ path: `${path}/${name}` });
        return items.map(({ metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
      }),
    );
    return lists.flat();
  } catch (error) {
    // The kind or group was just deleted.
    if (isNotFound(error)) return [];
    throw error;
  }
}
