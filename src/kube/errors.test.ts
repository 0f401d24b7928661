import { expect, test } from 'vitest';
import {
  answerError,
  ApiError,
  connectionError,
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
  networkError,
  serverMessage,
} from './errors.ts';

const request = { method: 'GET', path: '/api/v1/pods' };
const predicates = {
  isAlreadyExists,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  isTransient,
};

function holding(error: unknown): string[] {
  return Object.entries(predicates).flatMap(([name, predicate]) => (predicate(error) ? [name] : []));
}

test.each([
  [404, undefined, ['isNotFound']],
  [409, 'Conflict', ['isConflict']],
  [409, undefined, ['isConflict']],
  [409, 'AlreadyExists', ['isAlreadyExists']],
  [410, 'Expired', ['isExpired']],
  [410, 'Gone', ['isExpired']],
  [403, undefined, ['isForbidden']],
  [422, undefined, ['isInvalid']],
  [429, undefined, ['isTooManyRequests', 'isTransient']],
  [500, undefined, ['isTransient']],
  [503, undefined, ['isTransient']],
  [401, undefined, []],
  [400, undefined, []],
])('the predicates recognise %i %s', (code, reason, expected) => {
  expect(holding(answerError(request, code, { kind: 'Status', reason }))).toEqual(expected);
});

test.each([
  ['ConnectionRefused', ['isTransient']],
  ['ConnectionLost', ['isTransient']],
  ['Timeout', ['isTransient']],
  ['CertificateRefused', []],
  ['ClientClosed', []],
])('the predicate isTransient recognises %s without an answer', (reason, expected) => {
  expect(holding(connectionError(request, reason, 'x'))).toEqual(expected);
});

test('other errors and values match nothing', () => {
  for (const other of [new Error('404'), undefined, null, { code: 404 }]) expect(holding(other)).toEqual([]);
});

test('the message names the request, the code, the reason and what the server said', () => {
  const status = { kind: 'Status', message: 'pods "x" not found', reason: 'NotFound', details: { name: 'x' } };
  const error = answerError(request, 404, status);
  expect(error.message).toBe('GET /api/v1/pods: 404 NotFound: pods "x" not found');
  expect(error.details).toEqual({ name: 'x' });
  expect(error.status).toBe(status);
  expect(serverMessage(error)).toBe('pods "x" not found');
  expect(serverMessage(answerError(request, 502, ''))).toContain('the server gave no explanation');
});

test('an answer that is not a Status is quoted, shortened', () => {
  const error = answerError(request, 502, `<html>\n  bad gateway ${'x'.repeat(1000)}`);
  expect(error.message).toMatch(/^GET \/api\/v1\/pods: 502 Unknown: <html> bad gateway x+…$/);
  expect(error.message.length).toBeLessThan(300);
  expect(answerError(request, 500, undefined).message).toContain('the server gave no explanation');
});

test('the time to wait is read from the Retry-After header (seconds or a date) or from the details', () => {
  expect(answerError(request, 429, undefined, '3').retryAfterMs).toBe(3000);
  expect(answerError(request, 429, { kind: 'Status', details: { retryAfterSeconds: 2 } }).retryAfterMs).toBe(2000);
  const later = new Date(Date.now() + 60_000).toUTCString();
  expect(answerError(request, 429, undefined, later).retryAfterMs).toBeGreaterThan(50_000);
  expect(answerError(request, 429, undefined, 'soon').retryAfterMs).toBeUndefined();
  expect(answerError(request, 429, undefined).retryAfterMs).toBeUndefined();
});

test.each([
  ['ECONNREFUSED', 'ConnectionRefused'],
  ['ENOTFOUND', 'HostNotFound'],
  ['ECONNRESET', 'ConnectionLost'],
  ['EPIPE', 'ConnectionLost'],
  ['ETIMEDOUT', 'Timeout'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CertificateRefused'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'CertificateRefused'],
])('the network error %s has the reason %s', (code, reason) => {
  const cause = Object.assign(new Error('what happened'), { code });
  const error = networkError(request, 'server:6443', cause);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code: 0, reason, cause });
  expect(error.message).toMatch(/^GET \/api\/v1\/pods: .*server:6443: what happened$/);
});

test('when several addresses were tried, each failure is named', () => {
  const cause = Object.assign(new AggregateError([new Error('one'), new Error('two')], ''), { code: 'ECONNREFUSED' });
  expect(networkError(request, 'localhost:1', cause).message).toContain('localhost:1: one; two');
});
