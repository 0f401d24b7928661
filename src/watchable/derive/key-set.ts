// The keys that a function declares for a derived map, as a map of their own.
import { jsonEqual } from '../equal.ts';
import { readFor } from '../reads/read.ts';
import type { Read, World } from '../reads/read.ts';
import type { Dependent } from '../reads/subject.ts';
import { Cell } from './cell.ts';
import { ComputedMap } from './computed-map.ts';

export class KeySet<K> extends ComputedMap<K, true> implements Dependent {
  readonly #cell: Cell<readonly K[]>;

  constructor(name: string, keys: (read: Read) => Iterable<K>, key: ((key: K) => string) | undefined, world?: World) {
    super(`the keys of ${name}`, key === undefined ? {} : { key });
    this.#cell = new Cell<readonly K[]>({
      owner: this,
      label: this.name,
      compute: (reads) => [...keys(readFor(reads, world))],
      isEqual: jsonEqual,
      drop: () => {},
    });
  }

  inWorld(): never {
    throw new Error('the keys of a derived map are read in the overlay of that map');
  }

  mark(): void {
    this.suspect();
  }

  protected start(): void {
    this.#cell.join(this);
  }

  protected update(): void {
    this.#cell.refresh();
    const { failure } = this.#cell;
    this.failed(this, failure);
    if (failure === undefined) this.kept.replaceAll(this.#cell.value.map((key) => [key, true]));
  }

  protected stop(): void {
    this.#cell.leave(this);
  }
}
