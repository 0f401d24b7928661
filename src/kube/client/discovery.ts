// What the API server says of itself: which kinds it serves. Asked where a 404 alone would not be believed.
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
 * Whether the API serves a kind, by its own list of all that it serves. Rejects when there is no such list: a server that
 * is starting, or something between it and us, answers 404 to anything.
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
