// `derive`: computes from maps what several components need to know, once, and shares the result.
//
// Values are computed by key (derived-values.ts), each in a cell that knows what it read (cell.ts). With declared keys
// (derived-map.ts; key-set.ts where a function declares them) the values are also kept as entries that can be listed
// (listed-map.ts). Asynchronous values (derive-async.ts) and overlays (overlay.ts) are built from the same parts.
import { DerivedMap } from './derived-map.ts';
import type { DeriveKeyedOptions } from './derived-map.ts';
import { DerivedValues } from './derived-values.ts';
import type { Compute, Definition, DeriveOptions } from './derived-values.ts';

/**
 * A map that is computed from others. A value is computed on first read, cached while it has readers, and recomputed
 * only when something that it read has changed; an equal result wakes nobody. `undefined` means no entry.
 * With `keys` it can be listed, indexed and subscribed to; without, it is read by key.
 */
export function derive<K, V>(name: string, compute: Compute<K, V>, options: DeriveKeyedOptions<K, V>): DerivedMap<K, V>;
export function derive<K, V>(name: string, compute: Compute<K, V>, options?: DeriveOptions<K, V>): DerivedValues<K, V>;
export function derive<K, V>(
  name: string,
  compute: Compute<K, V>,
  options: DeriveOptions<K, V> | DeriveKeyedOptions<K, V> = {},
): DerivedMap<K, V> | DerivedValues<K, V> {
  return deriveFrom({ name, compute: () => compute, options });
}

/** Creates the map of a definition; one that can be listed if the definition declares keys. */
export function deriveFrom<K, V>(
  definition: Definition<K, V, DeriveOptions<K, V> | DeriveKeyedOptions<K, V>>,
): DerivedMap<K, V> | DerivedValues<K, V> {
  const { options } = definition;
  return 'keys' in options ? new DerivedMap({ ...definition, options }) : new DerivedValues(definition);
}
