// A map that is computed from others, by key. Derived maps with keys and asynchronous ones are built on it.
import { jsonEqual } from '../equal.ts';
import { deepFreeze } from '../freeze.ts';
import type { Id } from '../hash.ts';
import { readFor, SOURCE } from '../reads/read.ts';
import type { Lookup, Read, World } from '../reads/read.ts';
import type { Reads } from '../reads/subject.ts';
import { Cell } from './cell.ts';
import type { Formula } from './cell.ts';
import { Derivation } from './derivation.ts';

/** Options of a derived map; every field has a default. */
export interface DeriveOptions<K, V> {
  /** Turns a key into a string; required when keys are objects. It must be injective. */
  readonly key?: (key: K) => string;
  /** Whether a new result equals the one before, so that its readers are not woken. Default: `jsonEqual`. */
  readonly equals?: (a: V, b: V) => boolean;
  /** `none` for values that freezing can't protect, such as functions: nobody may change them. Default: `freeze`. */
  readonly isolate?: 'freeze' | 'none';
}

/** Computes a value from others. Only what it reads through `read` is tracked. */
export type Compute<K, V> = (read: Read, key: K) => V | undefined;

/** A computation that may also depend on subjects that are not part of a map. */
export type ComputeWith<K, V> = (read: Read, key: K, reads: Reads) => V | undefined;

/** What a derived map has in common in all overlays. */
export interface Definition<K, V, O extends DeriveOptions<K, V> = DeriveOptions<K, V>> {
  readonly name: string;
  /** Creates the function for one overlay, so that overlays do not share its state. */
  readonly compute: () => ComputeWith<K, V>;
  readonly options: O;
}

/** A derived map that is read by key. */
export class DerivedValues<K, V> extends Derivation implements Lookup<K, V> {
  readonly name: string;
  readonly #definition: Definition<K, V>;
  readonly #formula: Formula<K, V>;
  readonly #cells = new Map<Id, Cell<K, V>>();

  constructor(definition: Definition<K, V>, world?: World) {
    super();
    const { name, options } = definition;
    const { equals = jsonEqual, isolate = 'freeze' } = options;
    const compute = definition.compute();
    this.name = name;
    this.#definition = definition;
    this.#formula = {
      owner: this,
      name,
      equals,
      compute: (reads, key) => {
        const value = compute(readFor(reads, world), key, reads);
        return isolate === 'freeze' ? deepFreeze(value) : value;
      },
      drop: (id) => this.#cells.delete(id),
    };
  }

  get [SOURCE](): this {
    return this;
  }

  /** How many values are cached, because they have readers. */
  get kept(): number {
    return this.#cells.size;
  }

  /** The current value. It is cached only while a tracked reader uses it; otherwise a later call computes it again. */
  load(key: K): V | undefined {
    return this.get(key);
  }

  get(key: K, reads?: Reads): V | undefined {
    const cell = this.cellOf(key);
    cell.refresh();
    reads?.add(cell);
    return cell.value;
  }

  inWorld(world: World): DerivedValues<K, V> {
    return new DerivedValues(this.#definition, world);
  }

  /** The cell of a key; refresh it before reading its value. */
  cellOf(key: K): Cell<K, V> {
    this.enter();
    const id = this.#identify(key);
    let cell = this.#cells.get(id);
    if (cell === undefined) this.#cells.set(id, (cell = new Cell(this.#formula, id, key)));
    return cell;
  }

  #identify(key: K): Id {
    const { options } = this.#definition;
    if (options.key !== undefined) return options.key(key);
    if (typeof key !== 'object' || key === null) return key;
    throw new TypeError(
      `derived map "${this.name}" was given an object as key: derive it with the option "key", a key codec`,
    );
  }
}
