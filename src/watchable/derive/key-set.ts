// The keys that a function declares for a derived map, as a map of their own.
import type { Read, World } from '../reads/read.ts';
import type { Dependent } from '../reads/subject.ts';
import type { Cell } from './cell.ts';
import { DerivedValues } from './derived-values.ts';
import { ListedMap } from './listed-map.ts';

/** A function that reads which keys exist. */
export type DeclareKeys<K> = (read: Read) => Iterable<K>;

export class KeySet<K> extends ListedMap<K, true> implements Dependent {
  /** All keys are one derived value. */
  readonly #values: DerivedValues<undefined, readonly K[]>;
  #keys!: Cell<undefined, readonly K[]>;

  constructor(name: string, keys: DeclareKeys<K>, key: ((key: K) => string) | undefined, world?: World) {
    super(`the keys of ${name}`, key === undefined ? {} : { key });
    const compute =
      () =>
      (read: Read): readonly K[] => [...keys(read)];
    this.#values = new DerivedValues({ name: this.name, compute, options: { isolate: 'none' } }, world);
  }

  inWorld(): never {
    throw new Error('the keys of a derived map are read in the overlay of that map');
  }

  mark(): void {
    this.suspect();
  }

  protected start(): void {
    this.#keys = this.#values.cellOf(undefined);
    this.#keys.addReader(this);
  }

  protected update(): void {
    this.#keys.refresh();
    const { failure } = this.#keys;
    this.failed(this, failure);
    if (failure === undefined) this.kept.replaceAll(this.#keys.value!.map((key) => [key, true]));
  }

  protected stop(): void {
    this.#keys.removeReader(this);
  }
}
