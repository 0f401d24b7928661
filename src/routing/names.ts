// Names and text order, as the original has them.
import { createHash } from 'node:crypto';

const MOST_BYTES = 63;
const KEPT_BYTES = 31;

/** The name of a router or route for a host: safe characters, at most 63 bytes, in small letters. */
export function sanitize(name: string): string {
  const plain = name.replace(/[*/.: ]/g, '-').replace(/[[\]\n]/g, '');
  const bytes = Buffer.from(plain);
  if (bytes.length <= MOST_BYTES) return plain.toLowerCase();
  const digest = createHash('md5').update(bytes).digest('hex');
  return `${bytes.subarray(0, KEPT_BYTES).toString()}-${digest.slice(0, MOST_BYTES - KEPT_BYTES - 1)}`.toLowerCase();
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
