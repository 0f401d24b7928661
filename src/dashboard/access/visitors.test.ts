import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { Client, RawRequest } from '../../kube/index.ts';
import { FakeClient } from '../../../test/support/fake-client.ts';
import { TRUST_MS } from './permissions.ts';
import { Access } from './visitors.ts';

/** Access by an API server that accepts some tokens. */
function accessWith(tokens: Set<string>) {
  const clock = { now: 1_000_000 };
  const reviews: string[] = [];
  const client = new FakeClient();
  client.raw = (async ({ body }: RawRequest) => {
    const { token } = (body as { spec: { token: string } }).spec;
    reviews.push(token);
    return { status: tokens.has(token) ? { authenticated: true, user: { username: `user-${token}` } } : {} };
  }) as Client['raw'];
  const access = new Access({
    client,
    connectAs: () => client,
    key: randomBytes(32),
    sessionMs: 60_000,
    now: () => clock.now,
  });
  return { access, clock, reviews };
}

function request(headers: Record<string, string>): IncomingMessage {
  return { socket: {}, headers: { host: '127.0.0.1:7444', ...headers } } as unknown as IncomingMessage;
}

async function signedIn(access: Access, token: string): Promise<IncomingMessage> {
  const { cookie } = await access.signIn(request({ origin: 'http://127.0.0.1:7444' }), token);
  return request({ cookie: cookie.split(';')[0]! });
}

test('a session expires even if the browser keeps the cookie, and open streams end with it', async () => {
  const { access, clock } = accessWith(new Set(['jane']));
  const signedInRequest = await signedIn(access, 'jane');
  const visitor = await access.visitor(signedInRequest);
  expect(visitor).toMatchObject({ name: 'user-jane', until: clock.now + 60_000 });
  clock.now += 59_999;
  await visitor.check();
  clock.now += 1;
  await expect(visitor.check()).rejects.toMatchObject({ status: 401, message: 'the session is over' });
  await expect(access.visitor(signedInRequest)).rejects.toMatchObject({ status: 401, message: 'the session is over' });
});

test('a token review is cached for seconds, then repeated', async () => {
  const tokens = new Set(['jane']);
  const { access, clock, reviews } = accessWith(tokens);
  const signedInRequest = await signedIn(access, 'jane');
  await access.visitor(signedInRequest);
  expect(reviews).toEqual(['jane']);
  tokens.clear();
  clock.now += TRUST_MS;
  await expect(access.visitor(signedInRequest)).rejects.toMatchObject({ status: 401 });
  expect(reviews).toEqual(['jane', 'jane']);
});

test('a rejected token is cached too, and an invalid one is never reviewed', async () => {
  const { access, reviews } = accessWith(new Set());
  for (const token of ['guess', 'guess', 'no\ntoken', '']) {
    await expect(access.visitor(request({ authorization: `Bearer ${token}` }))).rejects.toMatchObject({ status: 401 });
  }
  expect(reviews).toEqual(['guess']);
});

test('a flood of tokens does not cause a flood of reviews', async () => {
  const { access, reviews } = accessWith(new Set());
  const asked = Array.from({ length: 100 }, (_, i) => access.visitor(request({ authorization: `Bearer t${i}` })));
  const statuses = (await Promise.allSettled(asked)).map(
    (each) => (each as { reason: { status: number } }).reason.status,
  );
  expect(reviews.length).toBeLessThanOrEqual(32);
  expect(new Set(statuses)).toEqual(new Set([401, 503]));
});
