// Copy-on-write storage: entries spread by hash over a power-of-two number of native maps. Taking a snapshot is free;
// the first write after it copies the directory and one shard. Maps keep their state here, subsets their members.
import { shardOf } from './hash.ts';
import type { Id } from './hash.ts';
import type { StateView, Update } from './types.ts';
import { View } from './view.ts';

const FULL = 48;
const GROWTH = 4;
const MOST = 4096;

export class Shards<K, V> {
  readonly #identify: (key: K) => Id;
  #directory: Map<Id, Update<K, V>>[] = [new Map()];
  #size = 0;
  // A shard, or the directory, may be written in place while its epoch is the current one. Snapshots start a new epoch.
  #epoch = 0;
  #directoryEpoch = 0;
  #shardEpochs: number[] = [0];
  #view: View<K, V> | undefined;

  constructor(identify: (key: K) => Id) {
    this.#identify = identify;
  }

  get size(): number {
    return this.#size;
  }

  get(id: Id): Update<K, V> | undefined {
    const directory = this.#directory;
    return directory[shardOf(id, directory.length)]!.get(id);
  }

  set(id: Id, entry: Update<K, V>): void {
    const shard = this.#writable(id);
    const before = shard.size;
    shard.set(id, entry);
    if (shard.size === before) return;
    this.#size++;
    if (this.#size > FULL * this.#directory.length && this.#directory.length < MOST) this.#grow();
  }

  delete(id: Id): void {
    if (this.get(id) === undefined) return;
    this.#writable(id).delete(id);
    this.#size--;
    // An emptied map starts small again; otherwise it would keep copying and walking a directory of empty shards.
    if (this.#size === 0) this.#replaceDirectory([new Map()]);
  }

  /** The state at this moment; the same object until the next write. */
  view(): StateView<K, V> {
    if (this.#view === undefined) {
      this.#view = new View(this.#directory, this.#size, this.#identify);
      this.#epoch++;
    }
    return this.#view;
  }

  #writable(id: Id): Map<Id, Update<K, V>> {
    this.#view = undefined;
    const index = shardOf(id, this.#directory.length);
    if (this.#directoryEpoch !== this.#epoch) {
      this.#directory = this.#directory.slice();
      this.#directoryEpoch = this.#epoch;
    }
    const shard = this.#directory[index]!;
    if (this.#shardEpochs[index] === this.#epoch) return shard;
    const copy = new Map(shard);
    this.#directory[index] = copy;
    this.#shardEpochs[index] = this.#epoch;
    return copy;
  }

  #grow(): void {
    const count = this.#directory.length * GROWTH;
    const directory = Array.from({ length: count }, () => new Map<Id, Update<K, V>>());
    for (const shard of this.#directory) {
      for (const [id, entry] of shard) directory[shardOf(id, count)]!.set(id, entry);
    }
    this.#replaceDirectory(directory);
  }

  #replaceDirectory(directory: Map<Id, Update<K, V>>[]): void {
    this.#directory = directory;
    this.#directoryEpoch = this.#epoch;
    this.#shardEpochs = directory.map(() => this.#epoch);
  }
}
