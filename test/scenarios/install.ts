// Installs CustomResourceDefinitions on a cluster.
import type { Client } from '../../src/kube/client/client.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { CustomResourceDefinition } from '../support/core-kinds.ts';
import { until } from '../support/until.ts';

/** Installs definitions; resolves when their kinds are served. */
export async function install(client: Client, definitions: readonly AnyObject[]): Promise<void> {
  await Promise.all(definitions.map((definition) => installOne(client, definition)));
}

async function installOne(client: Client, definition: AnyObject): Promise<void> {
  const patch = { type: 'apply', body: definition, force: true } as const;
  await client.patch(CustomResourceDefinition, definition.metadata, patch, { fieldManager: 'test' });
  await until(async () => {
    const { status } = (await client.get(CustomResourceDefinition, definition.metadata)) as {
      status?: { conditions?: { type: string; status: string }[] };
    };
    return status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false;
  }, 20_000);
}
