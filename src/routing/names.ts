// Names and text order, as the original has them.
import { createHash } from 'node:crypto';

const MOST_BYTES = 63;
const KEPT_BYTES = 31;

/** The name of a router or route for a host: safe characters, at most 63 bytes, in small letters. */
export function sanitize(name: string): string {
  const plain = name.replace(/[*/.: ]/g, '-').replace(/[[\]\n]/g, '');
  if (Buffer.byteLength(plain) <= MOST_BYTES) return plain.toLowerCase();
  const bytes = Buffer.from(plain);
  const digest = createHash('md5').update(bytes).digest('hex');
  return `${bytes.subarray(0, KEPT_BYTES).toString()}-${digest.slice(0, MOST_BYTES - KEPT_BYTES - 1)}`.toLowerCase();
}

const HASH_DIGITS = 10;

/**
 * The name of a Kubernetes object for something that AWS knows under any name, such as `orders_shop`: sanitized and,
 * where Kubernetes would refuse that, a readable beginning with a digest of the true name.
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

/** Whether Kubernetes takes it for a name: small letters, digits and hyphens. */
export function isLabel(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** Ascending order of code units. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorted by a text that each has. */
export function sortedBy<T>(items: Iterable<T>, text: (item: T) => string): T[] {
  // The text is made once for each, not in every comparison.
  const keyed = Array.from(items, (item) => ({ item, key: text(item) }));
  return keyed.sort((a, b) => byText(a.key, b.key)).map(({ item }) => item);
}

/** An object with its keys in text order. */
export function byKey<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  return Object.fromEntries(sortedBy(entries, ([key]) => key));
}
