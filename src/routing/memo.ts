// Caches a computed result for as long as its frozen input is alive.

export function memo<K extends object, V extends object>(compute: (value: K) => V): (value: K) => V {
  const cache = new WeakMap<K, V>();
  return (value) => {
    let found = cache.get(value);
    if (found === undefined) cache.set(value, (found = compute(value)));
    return found;
  };
}
