// Checks that every request must pass. A foreign page must not reach us through its own DNS name (DNS rebinding), and
// must not write with the user's session (CSRF).
import type { IncomingMessage } from 'node:http';
import { isLoopback, isNamed } from '../access/hosts.ts';
import { Refused } from '../refused.ts';

/** The headers of every response. The page loads our own files only, and can't be framed. */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Headers that must not be repeated: a proxy in front of us might use the other value. */
const SINGLE = ['host', 'origin', 'authorization', 'content-type'];

/** Throws unless the Host header is one of our names, and no security-relevant header is repeated. */
export function checkHost({ headers, headersDistinct }: IncomingMessage, names: readonly string[], own: string): void {
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new Refused(400, `the header ${twice} is there more than once`);
  const { host } = headers;
  if (isLoopback(host) || isNamed(host, names)) return;
  throw new Refused(421, `this is not ${JSON.stringify(host ?? '')}`, `Open it as ${[own, ...names].join(', ')}.`);
}

/** Throws if another site sent the request. Other sites may link to the page, but not read or write data. */
export function checkSite({ headers, method = 'GET' }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  const isOwn = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwn) throw new Refused(403, 'another site sent this request', 'Open the dashboard itself.');
  if (method === 'GET' || method === 'HEAD') return;
  const { origin, host } = headers;
  const isSameOrigin =
    origin !== undefined && /^https?:\/\//.test(origin) && origin.replace(/^https?:\/\//, '') === host;
  if (!isSameOrigin && !(origin === undefined && site === 'same-origin')) {
    throw new Refused(403, 'only the dashboard itself may write', 'Use offshoot or kubectl from a script.');
  }
  if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Refused(415, 'the content type must be application/json');
  }
}
