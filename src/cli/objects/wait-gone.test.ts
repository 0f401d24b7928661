// The messages of waitGone after its timeout.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removal } from '../../api/description/deletion.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError } from '../../kube/errors.ts';
import { waitGone } from './wait-gone.ts';

const env = {
  apiVersion: 'riskified.com/v1alpha1',
  kind: 'DynamicEnv',
  metadata: { name: 'pr-7', namespace: 'shop', uid: 'u', resourceVersion: '1' },
};
const removals = [removal(DynamicEnv, env.metadata, 'Environment shop/pr-7')];

/** A server that answers with an object, or throws. */
function clientOf(answer: () => typeof env): Client {
  const get = async (): Promise<typeof env> => answer();
  const list = async () => ({ items: [await get()], resourceVersion: '1' });
  const watch = (_kind: unknown, { signal }: { signal: AbortSignal }): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  return { get, list, watch } as unknown as Client;
}

const written: string[] = [];
beforeEach(() => {
  written.length = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => vi.restoreAllMocks());

const waited = (client: Client): Promise<string> =>
  waitGone(client, removals, 200, 'environments', async () => ({ reasons: [], isReported: false })).then(
    () => 'gone',
    (error: Error) => error.message,
  );

test('waitGone reports objects that still exist, and suggests checking the controllers', async () => {
  expect(await waited(clientOf(() => env))).toMatch(
    /^not gone after 0.2s\n {2}Environment shop\/pr-7 is still there\n {2}check that "offshoot run /,
  );
});

test('waitGone does not suggest checking controllers that report why objects still exist', async () => {
  const waiting = waitGone(
    clientOf(() => env),
    removals,
    200,
    'environments',
    async () => ({ reasons: ['reported'], isReported: true }),
  );
  await expect(waiting).rejects.toThrow(
    /^not gone after 0.2s\n {2}Environment shop\/pr-7 is still there\n {2}reported$/,
  );
});

test('waitGone reports at once that the server does not answer', async () => {
  let times = 0;
  const client = clientOf(() => {
    throw new ApiError(`GET /apis/x?timeoutSeconds=${times++}: nobody answers at 127.0.0.1:1`, {
      code: 0,
      reason: 'ConnectionRefused',
    });
  });
  expect(await waited(client)).toBe(
    "not known to be gone after 0.2s\n  Environment shop/pr-7 can't be looked up: nobody answers at 127.0.0.1:1",
  );
  expect(written.slice(1)).toEqual(['Environment shop/pr-7: nobody answers at 127.0.0.1:1; trying again\n']);
});
