// Names and sort order, as in SuperGloo.
import { createHash } from 'node:crypto';

const MAX_BYTES = 63;
const KEPT_BYTES = 31;

/** The name of a router or route for a host: safe characters, at most 63 bytes, in lower case. */
export function sanitize(name: string): string {
  const plain = name.replace(/[*/.: ]/g, '-').replace(/[[\]\n]/g, '');
  if (Buffer.byteLength(plain) <= MAX_BYTES) return plain.toLowerCase();
  const bytes = Buffer.from(plain);
  const digest = createHash('md5').update(bytes).digest('hex');
  return `${bytes.subarray(0, KEPT_BYTES).toString()}-${digest.slice(0, MAX_BYTES - KEPT_BYTES - 1)}`.toLowerCase();
}

const HASH_DIGITS = 10;

/**
 * The name of the Kubernetes object for a resource at AWS, whose name may be anything, such as `orders_shop`: sanitized
 * and, if Kubernetes would refuse that, a readable prefix with a digest of the original name.
 */
export function objectName(name: string): string {
  const sanitized = sanitize(name);
  if (isLabel(sanitized)) return sanitized;
  const readable = sanitized
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, KEPT_BYTES)
    .replace(/^-|-$/g, '');
  const digest = createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS);
  return readable === '' ? `x-${digest}` : `${readable}-${digest}`;
}

/** Whether Kubernetes accepts a name: lower-case letters, digits and hyphens. */
export function isLabel(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** Compares by code units, ascending. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Items sorted by a text key. */
export function sortedBy<T>(items: Iterable<T>, text: (item: T) => string): T[] {
  // The key is computed once for each item, not in every comparison.
  const keyed = Array.from(items, (item) => ({ item, key: text(item) }));
  return keyed.sort((a, b) => byText(a.key, b.key)).map(({ item }) => item);
}

/** An object with sorted keys. */
export function byKey<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.fromEntries(sortedBy(entries, ([key]) => key));
}
