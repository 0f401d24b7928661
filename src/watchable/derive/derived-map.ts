// A derived map with declared keys: every key has a derived value, and the entries can be listed like those of a table.
import type { Id } from '../hash.ts';
import { SOURCE } from '../reads/read.ts';
import type { IndexFunction, Readable, Source, World } from '../reads/read.ts';
import type { Dependent, Reads, Staleness, Subject } from '../reads/subject.ts';
import type { Cell } from './cell.ts';
import { DerivedValues } from './derived-values.ts';
import type { ComputeWith, Definition, DeriveOptions } from './derived-values.ts';
import { KeySet } from './key-set.ts';
import type { DeclareKeys } from './key-set.ts';
import { ListedMap } from './listed-map.ts';

/** Options of a derived map that can be listed. */
export interface DeriveKeyedOptions<K, V> extends DeriveOptions<K, V> {
  /** The keys of another map, or a function that reads which keys exist. */
  readonly keys: Readable<K, unknown> | DeclareKeys<K>;
  readonly indexes?: Readonly<Record<string, IndexFunction<K, V>>>;
}

/** A derived map with declared keys: listed, indexed and subscribed to like a watchable map. */
export class DerivedMap<K, V> extends ListedMap<K, V> implements Dependent {
  readonly #definition: Definition<K, V, DeriveKeyedOptions<K, V>>;
  readonly #keys: Source<K, unknown>;
  readonly #values: DerivedValues<K, V>;
  /** The cells of the declared keys, while entries are kept. */
  readonly #members = new Map<Id, Cell<K, V>>();
  /** What the next update has to process: keys that were added or removed, and members that were marked. */
  readonly #moved = new Map<Id, K>();
  readonly #marked = new Set<Cell<K, V>>();
  #areKeysRead = false;
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
    this.#values = new DerivedValues({ name, options, compute: computeDeclared }, world);
  }

  override get(key: K, reads?: Reads): V | undefined {
    return this.#values.get(key, reads);
  }

  override has(key: K, reads?: Reads): boolean {
    return this.get(key, reads) !== undefined;
  }

  inWorld(world: World): DerivedMap<K, V> {
    return new DerivedMap(this.#definition, world);
  }

  mark(_staleness: Staleness, member: Subject): void {
    this.#marked.add(member as Cell<K, V>);
    this.suspect();
  }

  protected start(): void {
    this.#stopListening = this.#keys.listen((change) => {
      if (change === undefined) this.#areKeysRead = false;
      else if (change.before === undefined || change.after === undefined) this.#moved.set(change.id, change.key);
      else return;
      this.suspect();
    });
  }

  protected update(everything: boolean): void {
    this.#keys.refresh();
    if (!this.#areKeysRead) this.#readKeys();
    for (const [id, key] of this.#moved) {
      this.#moved.delete(id);
      if (this.#keys.has(key)) this.#admit(id, key);
      else this.#dismiss(id, key);
    }
    if (everything) for (const member of this.#members.values()) this.#marked.add(member);
    for (const member of this.#marked) {
      member.refresh();
      this.#marked.delete(member);
      this.#show(member);
    }
  }

  protected stop(): void {
    this.#stopListening();
    this.#areKeysRead = false;
    this.#moved.clear();
    this.#marked.clear();
    for (const member of this.#members.values()) member.removeReader(this);
    this.#members.clear();
  }

  /** Reads all keys, at the start and after reading them failed. Later changes of keys arrive one by one. */
  #readKeys(): void {
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const key of this.#keys.keys()) this.#moved.set(this.#keys.identify(key), key);
      this.#areKeysRead = true;
    } catch (error) {
      failure = { error };
    }
    this.failed(this.#keys, failure);
  }

  #admit(id: Id, key: K): void {
    if (this.#members.has(id)) return;
    const member = this.#values.cellOf(key);
    member.addReader(this);
    this.#members.set(id, member);
    this.#marked.add(member);
  }

  #dismiss(id: Id, key: K): void {
    const member = this.#members.get(id);
    if (member === undefined) return;
    this.#members.delete(id);
    this.#marked.delete(member);
    member.removeReader(this);
    this.failed(id, undefined);
    this.kept.delete(key);
  }

  #show(member: Cell<K, V>): void {
    const { key } = member;
    let { failure } = member;
    try {
      if (failure === undefined) {
        if (member.value === undefined) this.kept.delete(key);
        else this.kept.store(key, member.value);
      }
    } catch (error) {
      // An index function threw for the value.
      failure = { error };
    }
    this.failed(this.identify(key), failure);
  }
}
