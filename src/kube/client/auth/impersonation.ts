// The impersonation headers of a request. Called by connect.ts.
import type { Impersonation } from '../config/config.ts';

export function impersonationHeaders(as: Impersonation | undefined): Record<string, string | string[]> {
  if (as === undefined) return {};
  const headers: Record<string, string | string[]> = { 'impersonate-user': as.user };
  if (as.uid !== undefined) headers['impersonate-uid'] = as.uid;
  if (as.groups !== undefined && as.groups.length > 0) headers['impersonate-group'] = [...as.groups];
  for (const [key, values] of Object.entries(as.extra ?? {})) {
    headers[`impersonate-extra-${escapeKey(key)}`] = [...values];
  }
  return headers;
}

/** A key may contain characters that a header name may not, such as a slash; the API server percent-decodes it. */
function escapeKey(key: string): string {
  const escape = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  return key.replaceAll(/[^\w!#$&'*+.^`|~-]/gu, escape);
}
