// What follows from a frozen value, computed once for as long as the value is there.

export function memo<K extends object, V extends object>(compute: (value: K) => V): (value: K) => V {
  const known = new WeakMap<K, V>();
  return (value) => {
    let found = known.get(value);
    if (found === undefined) known.set(value, (found = compute(value)));
    return found;
  };
}
