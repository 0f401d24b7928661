// Short names for contents: the hash that tells one pod template from another.
import { stringifyJson } from '../../kube/json.ts';

/** Letters and digits that spell no words and are not mistaken for each other. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short text that depends on the value and on how many names were taken already. */
export function contentHash(value: unknown, collisions = 0): string {
  const text = `${stringifyJson(sorted(value))}${collisions === 0 ? '' : collisions}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return String(hash >>> 0).replaceAll(/\d/g, (digit) => alphabet[digit.charCodeAt(0) % alphabet.length]!);
}

/** The value with the keys of its objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}
