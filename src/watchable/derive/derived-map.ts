// Maps computed from maps: by key when they are asked for, and with declared keys as a whole.
import { jsonEqual } from '../equal.ts';
import { deepFreeze } from '../freeze.ts';
import type { Id } from '../hash.ts';
import { readFor, SOURCE } from '../reads/read.ts';
import type { IndexFunction, Lookup, Read, Readable, Source, World } from '../reads/read.ts';
import { Reader } from '../reads/subject.ts';
import type { Dependent, Reads } from '../reads/subject.ts';
import { Cell, Derivation } from './cell.ts';
import { ComputedMap } from './computed-map.ts';
import { KeySet } from './key-set.ts';

/** How derived values are told apart; every field has a default. */
export interface DeriveOptions<K, V> {
  /** Turns a key into a string; required when keys are objects. It must be injective. */
  readonly key?: (key: K) => string;
  /** Whether a new result concerns nobody who has read the one before. Default: `jsonEqual`. */
  readonly equals?: (a: V, b: V) => boolean;
  /** `none` for values that freezing can't protect, such as functions: nobody may change them. Default: `freeze`. */
  readonly isolate?: 'freeze' | 'none';
}

/** What makes a derived map one that is listed. */
export interface DeriveKeyedOptions<K, V> extends DeriveOptions<K, V> {
  /** The keys of another map, or a function that reads which keys there are. */
  readonly keys: Readable<K, unknown> | ((read: Read) => Iterable<K>);
  readonly indexes?: Readonly<Record<string, IndexFunction<K, V>>>;
}

/** What computes a value from others; what it reads through anything but `read` goes unnoticed. */
export type Compute<K, V> = (read: Read, key: K) => V | undefined;

/** A computation that may also depend on subjects that are no part of a map. */
export type ComputeWith<K, V> = (read: Read, key: K, reads: Reads) => V | undefined;

/** What is the same for a derived map in every overlay. */
export interface Definition<K, V, O extends DeriveOptions<K, V>> {
  readonly name: string;
  /** Makes the function for one overlay: what it remembers must not get into another one. */
  readonly compute: () => ComputeWith<K, V>;
  readonly options: O;
}

/** The cells of a derived map. */
class Cells<K, V> {
  readonly #owner: Derivation;
  readonly #definition: Definition<K, V, DeriveOptions<K, V>>;
  readonly #compute: ComputeWith<K, V>;
  readonly #world: World | undefined;
  readonly #cells = new Map<Id, Cell<V | undefined>>();

  constructor(owner: Derivation, definition: Definition<K, V, DeriveOptions<K, V>>, world: World | undefined) {
    this.#owner = owner;
    this.#definition = definition;
    this.#compute = definition.compute();
    this.#world = world;
  }

  get size(): number {
    return this.#cells.size;
  }

  identify(key: K): Id {
    const { name, options } = this.#definition;
    if (options.key !== undefined) return options.key(key);
    if (typeof key !== 'object' || key === null) return key;
    throw new TypeError(
      `derived map "${name}" was given an object as key: derive it with the option "key", a key codec`,
    );
  }

  of(key: K): Cell<V | undefined> {
    const id = this.identify(key);
    let cell = this.#cells.get(id);
    if (cell === undefined) this.#cells.set(id, (cell = this.#make(id, key)));
    return cell;
  }

  #make(id: Id, key: K): Cell<V | undefined> {
    const { name, options } = this.#definition;
    const { equals = jsonEqual, isolate = 'freeze' } = options;
    return new Cell({
      owner: this.#owner,
      label: `${name}[${JSON.stringify(id)}]`,
      compute: (reads) => {
        const value = this.#compute(readFor(reads, this.#world), key, reads);
        return isolate === 'freeze' ? deepFreeze(value) : value;
      },
      isEqual: (a, b) => a === b || (a !== undefined && b !== undefined && equals(a, b)),
      drop: () => this.#cells.delete(id),
    });
  }
}

/** A derived map that is read by key. */
export class DerivedValues<K, V> extends Derivation implements Lookup<K, V> {
  readonly name: string;
  readonly #definition: Definition<K, V, DeriveOptions<K, V>>;
  readonly #cells: Cells<K, V>;

  constructor(definition: Definition<K, V, DeriveOptions<K, V>>, world?: World) {
    super();
    this.name = definition.name;
    this.#definition = definition;
    this.#cells = new Cells(this, definition, world);
  }

  get [SOURCE](): this {
    return this;
  }

  /** How many values are kept, because somebody reads them. */
  get kept(): number {
    return this.#cells.size;
  }

  /** The value as of now. It is kept only while somebody tracks it: others make it be computed. */
  load(key: K): V | undefined {
    return this.get(key);
  }

  get(key: K, reads?: Reads): V | undefined {
    this.enter();
    const cell = this.#cells.of(key);
    cell.refresh();
    reads?.add(cell);
    return cell.value;
  }

  inWorld(world: World): DerivedValues<K, V> {
    return new DerivedValues(this.#definition, world);
  }
}

/** A derived map with declared keys: listed, indexed and subscribed to like a watchable map. */
export class DerivedMap<K, V> extends ComputedMap<K, V> {
  readonly #definition: Definition<K, V, DeriveKeyedOptions<K, V>>;
  readonly #cells: Cells<K, V>;
  readonly #keys: Source<K, unknown>;
  readonly #keysRead = new KeysReader(() => this.suspect());
  readonly #members = new Map<Id, Member<K, V>>();
  /** What to look at: keys that came or went, and members that were marked. */
  readonly #moved = new Map<Id, K>();
  readonly #marked = new Set<Member<K, V>>();
  #isStarted = false;
  #stopListening = (): void => {};

  constructor(definition: Definition<K, V, DeriveKeyedOptions<K, V>>, world?: World) {
    const { name, compute, options } = definition;
    super(name, options);
    this.#definition = definition;
    const declared = options.keys;
    const keys = typeof declared === 'function' ? new KeySet(name, declared, options.key, world) : declared;
    this.#keys = (world === undefined || keys instanceof KeySet ? keys : world.of(keys))[SOURCE];
    const computeDeclared = (): ComputeWith<K, V> => {
      const ofKey = compute();
      return (read, key, reads) => (this.#keys.has(key, reads) ? ofKey(read, key, reads) : undefined);
    };
    this.#cells = new Cells(this, { ...definition, compute: computeDeclared }, world);
  }

  override get(key: K, reads?: Reads): V | undefined {
    this.enter();
    const cell = this.#cells.of(key);
    cell.refresh();
    reads?.add(cell);
    return cell.value;
  }

  override has(key: K, reads?: Reads): boolean {
    return this.get(key, reads) !== undefined;
  }

  inWorld(world: World): DerivedMap<K, V> {
    return new DerivedMap(this.#definition, world);
  }

  protected start(): void {
    this.#stopListening = this.#keys.listen(({ id, key, before, after }) => {
      if (before !== undefined && after !== undefined) return;
      this.#moved.set(id, key);
      this.suspect();
    });
  }

  protected update(everything: boolean): void {
    this.#keys.refresh();
    if (this.#keysRead.isStale()) this.#readKeys();
    for (const [id, key] of this.#moved) {
      this.#moved.delete(id);
      if (this.#keys.has(key)) this.#admit(id, key);
      else this.#dismiss(id, key);
    }
    if (everything) for (const member of this.#members.values()) this.#marked.add(member);
    for (const member of this.#marked) {
      member.cell.refresh();
      this.#marked.delete(member);
      this.#show(member);
    }
  }

  protected stop(): void {
    this.#stopListening();
    this.#keysRead.drop();
    this.#isStarted = false;
    this.#moved.clear();
    this.#marked.clear();
    for (const member of this.#members.values()) member.cell.leave(member);
    this.#members.clear();
  }

  // Which keys there are comes one by one; here is only heard whether that is known, and all of them at the start.
  #readKeys(): void {
    let failure: { readonly error: unknown } | undefined;
    try {
      this.#keysRead.run(() => this.#keys.count(this.#keysRead));
      if (!this.#isStarted) for (const key of this.#keys.keys()) this.#moved.set(this.#keys.identify(key), key);
      this.#isStarted = true;
    } catch (error) {
      failure = { error };
    }
    this.failed(this.#keys, failure);
  }

  #admit(id: Id, key: K): void {
    if (this.#members.has(id)) return;
    const member = new Member(key, this.#cells.of(key), (marked) => {
      this.#marked.add(marked);
      this.suspect();
    });
    this.#members.set(id, member);
    this.#marked.add(member);
  }

  #dismiss(id: Id, key: K): void {
    const member = this.#members.get(id);
    if (member === undefined) return;
    this.#members.delete(id);
    this.#marked.delete(member);
    member.cell.leave(member);
    this.failed(id, undefined);
    this.kept.delete(key);
  }

  #show({ key, cell }: Member<K, V>): void {
    let { failure } = cell;
    try {
      if (failure === undefined) {
        if (cell.value === undefined) this.kept.delete(key);
        else this.kept.store(key, cell.value);
      }
    } catch (error) {
      // An index function that does not know what to do with the value.
      failure = { error };
    }
    this.failed(this.identify(key), failure);
  }
}

class KeysReader extends Reader {
  protected readonly doubted: () => void;

  constructor(onDoubt: () => void) {
    super();
    this.doubted = onDoubt;
  }
}

/** A key of a map that is kept whole. */
class Member<K, V> implements Dependent {
  readonly key: K;
  readonly cell: Cell<V | undefined>;
  readonly #onMark: (member: Member<K, V>) => void;

  constructor(key: K, cell: Cell<V | undefined>, onMark: (member: Member<K, V>) => void) {
    this.key = key;
    this.cell = cell;
    this.#onMark = onMark;
    cell.join(this);
  }

  mark(): void {
    this.#onMark(this);
  }
}
