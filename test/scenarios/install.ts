// Installs CustomResourceDefinitions on a cluster.
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { CustomResourceDefinition } from '../support/core-kinds.ts';
import { until } from '../support/until.ts';

/** Installs definitions; resolves when their kinds are served. */
export async function install(client: Client, definitions: readonly AnyObject[]): Promise<void> {
  await Promise.all(definitions.map((definition) => installOne(client, definition)));
}

/** Installs one definition; resolves when its kind is served, which may be a moment after the server says so. */
async function installOne(client: Client, definition: AnyObject): Promise<void> {
  const patch = { type: 'apply', body: definition, force: true } as const;
  await client.patch(CustomResourceDefinition, definition.metadata, patch, { fieldManager: 'test' });
  await until(async () => {
    const { status } = (await client.get(CustomResourceDefinition, definition.metadata)) as {
      status?: { conditions?: { type: string; status: string }[] };
    };
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
  }, 20_000);
  const { group, names, versions } = definition['spec'] as Spec;
  for (const { name } of versions.filter(({ served }) => served)) {
    await until(() => isAnswered(client, `/apis/${group}/${name}/${names.plural}`), 20_000);
  }
}

interface Spec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

async function isAnswered(client: Client, path: string): Promise<boolean> {
  try {
    await client.raw({ path: `${path}?limit=1` });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
