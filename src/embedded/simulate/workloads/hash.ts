// Hashes of pod templates, for the names and labels of their replica sets and revisions.
import { stringifyJson } from '../../../kube/json.ts';

/** Without vowels and look-alikes, so that hashes spell no words and are easy to read. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short hash of the value; `collisions` makes it differ when the name was taken. */
export function contentHash(value: unknown, collisions = 0): string {
  const text = `${stringifyJson(sorted(value))}${collisions === 0 ? '' : collisions}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return String(hash >>> 0).replaceAll(/\d/g, (digit) => alphabet[digit.charCodeAt(0) % alphabet.length]!);
}

/** Sorts the keys of all objects in the value. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}
