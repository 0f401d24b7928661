// Discovery: which kinds the API server serves. Used where a 404 alone is not proof enough.
import type { Client, RequestOptions } from './client.ts';
import { apiVersionOf } from '../objects.ts';
import type { AnyKind } from '../objects.ts';

interface GroupList {
  readonly kind: 'APIGroupList';
  readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

interface ResourceList {
  readonly kind: 'APIResourceList';
  readonly resources: readonly { readonly name: string }[];
}

/**
 * Whether the API serves a kind, according to its discovery documents. Rejects when there are none: a server that is
 * starting, or a proxy in between, may answer 404 to anything.
 */
export async function isServed(client: Client, kind: AnyKind, options: RequestOptions = {}): Promise<boolean> {
  const version = apiVersionOf(kind);
  if (kind.group !== '') {
    const { groups } = await read<GroupList>(client, '/apis', 'APIGroupList', options);
    const versions = groups.flatMap((group) => group.versions);
    if (!versions.some(({ groupVersion }) => groupVersion === version)) return false;
  }
  const path = kind.group === '' ? `/api/${version}` : `/apis/${version}`;
  const { resources } = await read<ResourceList>(client, path, 'APIResourceList', options);
  return resources.some(({ name }) => name === kind.plural);
}

async function read<L extends { kind: string }>(
  client: Client,
  path: string,
  kind: L['kind'],
  options: RequestOptions,
): Promise<L> {
  const answer = await client.raw<Partial<L> | undefined>({ path, ...options });
  if (answer?.kind !== kind) throw new Error(`GET ${path}: expected an ${kind}, found ${JSON.stringify(answer?.kind)}`);
  return answer as L;
}
