import { expect, test } from 'vitest';
import type { Client } from '../../kube/client/client.ts';
import { ApiError } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject, Ref } from '../../kube/objects.ts';
import { fetchFor } from './fetch.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

/** A cluster in which each ConfigMap names the next one, and which records its requests. */
function cluster(objects: Readonly<Record<string, string | number>>) {
  const fetched: string[] = [];
  const answer = (name: string): KubeObject => {
    const next = objects[name];
    if (typeof next === 'string')
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations: { next } } };
    throw new ApiError(name, { code: next ?? 404, reason: 'Refused' });
  };
  const client = {
    get: async (_kind: unknown, { name }: Ref) => {
      fetched.push(name);
      return answer(name);
    },
    list: async (_kind: unknown, selection: { namespace?: string }) => {
      fetched.push(`all of ${selection.namespace}`);
      if (selection.namespace === 'secret') throw new ApiError('no', { code: 403, reason: 'Forbidden' });
      return { items: ['a', 'b'].map(answer) };
    },
  } as unknown as Client;
  return { client, fetched };
}

test('fetchFor fetches objects until no new ones are read, each only once', async () => {
  const { client, fetched } = cluster({ a: 'b', b: 'c', c: '' });
  const names = await fetchFor(client, (read) => {
    const found: string[] = [];
    for (let name = 'a'; name !== '';) {
      const object = read.get(ConfigMap, { name });
      if (object === undefined || object === 'hidden') break;
      found.push(name);
      name = object.metadata.annotations!['next']!;
    }
    return found;
  });
  expect(names).toEqual(['a', 'b', 'c']);
  expect(fetched).toEqual(['a', 'b', 'c']);
});

test('fetchFor distinguishes missing objects from forbidden ones', async () => {
  const { client } = cluster({ a: '', b: '', secret: 403 });
  const seen = await fetchFor(client, (read) => ({
    missing: read.get(ConfigMap, { name: 'missing' }),
    secret: read.get(ConfigMap, { name: 'secret' }),
    listed: read.list(ConfigMap, { namespace: 'open' }).map(({ metadata }) => metadata.name),
    unlisted: read.list(ConfigMap, { namespace: 'secret' }),
  }));
  expect(seen).toEqual({ missing: undefined, secret: 'hidden', listed: ['a', 'b'], unlisted: [] });
});

test('fetchFor fails on other errors', async () => {
  const { client } = cluster({ broken: 500 });
  await expect(fetchFor(client, (read) => read.get(ConfigMap, { name: 'broken' }))).rejects.toThrow('broken');
});
