import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { cookieIn, openSession, sealSession, setCookie } from './session-cookie.ts';

const key = randomBytes(32);
const session = { token: 'abc.def', until: 1_000 };

test('a session opens with its key only, until it expires', () => {
  const sealed = sealSession(key, session)!;
  expect(sealed).not.toContain('abc');
  expect(openSession(key, sealed, 999)).toEqual(session);
  expect(openSession(key, sealed, 1_000)).toBeUndefined();
  expect(openSession(randomBytes(32), sealed, 0)).toBeUndefined();
});

test('a session with any changed byte does not open', () => {
  const bytes = Buffer.from(sealSession(key, session)!, 'base64url');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    expect(openSession(key, changed.toString('base64url'), 0)).toBeUndefined();
  }
  for (const text of ['', 'AA', 'no base64!', sealSession(key, session)!.slice(0, 30)]) {
    expect(openSession(key, text, 0)).toBeUndefined();
  }
});

test('a token that is too long for a cookie is not sealed', () => {
  expect(sealSession(key, { token: 'x'.repeat(2_800), until: 1 })).toBeDefined();
  expect(sealSession(key, { token: 'x'.repeat(3_000), until: 1 })).toBeUndefined();
});

test('cookieIn finds the cookie by its exact name', () => {
  expect(cookieIn('a=1; offshoot-session=s; b=2', false)).toBe('s');
  expect(cookieIn('a=1; offshoot-session=s', true)).toBeUndefined();
  expect(cookieIn('__Host-offshoot-session=t; offshoot-session=s', true)).toBe('t');
  expect(cookieIn('not-offshoot-session=s', false)).toBeUndefined();
  expect(cookieIn(undefined, false)).toBeUndefined();
  expect(setCookie('v', { isSecure: true, maxAgeMs: 1_500 })).toBe(
    '__Host-offshoot-session=v; Path=/; Max-Age=1; HttpOnly; SameSite=Strict; Secure',
  );
});
