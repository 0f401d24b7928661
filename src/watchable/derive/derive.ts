// `derive`: what several components need to know of maps is computed once, from them, and shared.
import { DerivedMap, DerivedValues } from './derived-map.ts';
import type { Compute, DeriveKeyedOptions, DeriveOptions } from './derived-map.ts';

/**
 * A map that is computed from others. A value is computed when it is first read, kept while somebody reads it, and
 * computed again only when something that it read has changed; an equal result concerns nobody. `undefined` is no entry.
 * With `keys` it can be listed, indexed and subscribed to; without, it is read by key.
 */
export function derive<K, V>(name: string, compute: Compute<K, V>, options: DeriveKeyedOptions<K, V>): DerivedMap<K, V>;
export function derive<K, V>(name: string, compute: Compute<K, V>, options?: DeriveOptions<K, V>): DerivedValues<K, V>;
export function derive<K, V>(
  name: string,
  compute: Compute<K, V>,
  options: DeriveOptions<K, V> | DeriveKeyedOptions<K, V> = {},
): DerivedMap<K, V> | DerivedValues<K, V> {
  if ('keys' in options) return new DerivedMap({ name, compute: () => compute, options });
  return new DerivedValues({ name, compute: () => compute, options });
}
