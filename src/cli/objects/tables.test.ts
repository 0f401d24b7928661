import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { ApiError, connect, defineKind } from '../../kube/index.ts';
import type { Client } from '../../kube/index.ts';
import { withTables } from './tables.ts';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

let server: Embedded;
let client: Client;

beforeAll(async () => {
  server = await startEmbedded();
  client = connect({ server: server.url, caPem: server.caPem, token: server.admin.token });
});
afterAll(async () => {
  client?.close();
  await server?.stop();
});

/** A client whose first list of ConfigMaps fails. */
function failingOnce(error: ApiError, of = client, lists = { failed: false }): Client {
  return new Proxy(of, {
    get(target, name) {
      if (name === 'flow') return (flow: string) => failingOnce(error, target.flow(flow), lists);
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...args: unknown[]) => unknown;
      if (name !== 'list') return call;
      return (...args: unknown[]) => {
        if (lists.failed || args[0] !== ConfigMap) return call(...args);
        lists.failed = true;
        return Promise.reject(error);
      };
    },
  });
}

const countWith = (using: Client): Promise<number> =>
  withTables(using, [ConfigMap], AbortSignal.timeout(20_000), (tables) => tables.of(ConfigMap).list().length);

test('withTables lists a kind again that is not served for a moment', async () => {
  const error = new ApiError('404 page not found', { code: 404, reason: 'NotFound' });
  expect(await countWith(failingOnce(error))).toBe(await countWith(client));
});

test('withTables fails if a kind is forbidden', async () => {
  const error = new ApiError('configmaps is forbidden', { code: 403, reason: 'Forbidden' });
  await expect(countWith(failingOnce(error))).rejects.toThrow('configmaps is forbidden');
});
