// Who is answered at all. A page of somebody else must not reach us by a name of its own that leads to this address (DNS
// rebinding), and must not write in the name of whoever looks at it.
import type { IncomingMessage } from 'node:http';
import { isLoopback, isNamed } from '../access/hosts.ts';
import { Refused } from '../refused.ts';

/** What goes with every answer. Nothing is loaded but our own files, and nobody shows us in a frame. */
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

/** Headers of which a second one could mean something else to whoever stands between us and the browser. */
const SINGLE = ['host', 'origin', 'authorization', 'content-type'];

/** Throws unless the request names us by a name that is ours, and says everything that we go by only once. */
export function checkHost({ headers, headersDistinct }: IncomingMessage, names: readonly string[], own: string): void {
  const twice = SINGLE.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) throw new Refused(400, `the header ${twice} is there more than once`);
  const { host } = headers;
  if (isLoopback(host) || isNamed(host, names)) return;
  throw new Refused(421, `this is not ${JSON.stringify(host ?? '')}`, `Open it as ${[own, ...names].join(', ')}.`);
}

/** Throws if another site sent the request: what it may navigate to, it may not read or write. */
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
