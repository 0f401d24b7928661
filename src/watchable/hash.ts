// Spreads keys over shards. The sharded storage and its views must agree on it.

/** What a key is looked up by: the key itself if it is a primitive, else the output of the key codec. */
export type Id = unknown;

/** Which of `count` shards holds an id; `count` is a power of two. */
export function shardOf(id: Id, count: number): number {
  return count === 1 ? 0 : hash(id) & (count - 1);
}

function hash(id: Id): number {
  let mixed: number;
  if (typeof id === 'number' && (id | 0) === id) mixed = id;
  else {
    const text = typeof id === 'string' ? id : String(id);
    mixed = 0x811c9dc5;
    for (let index = 0; index < text.length; index++) mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x01000193);
  }
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 15);
}
