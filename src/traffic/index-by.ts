// An index of items by any of their keys.

export function indexBy<T>(
  items: readonly T[],
  keys: (item: T) => readonly string[],
): ReadonlyMap<string, readonly T[]> {
  const index = new Map<string, T[]>();
  for (const item of items) {
    for (const key of keys(item)) {
      const list = index.get(key);
      if (list === undefined) index.set(key, [item]);
      else list.push(item);
    }
  }
  return index;
}
