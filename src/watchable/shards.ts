// Copy-on-write storage: entries spread by hash over a power-of-two number of native maps. Taking a snapshot is free;
// the first write after it copies the directory and one shard. Maps keep their state here, subsets their members.
import { shardOf } from './hash.ts';
import type { Id } from './hash.ts';

const MAX_AVERAGE_SIZE = 48;
const GROWTH_FACTOR = 4;
const MAX_SHARDS = 4096;

/** The shards as they were at one moment. Nobody writes to them any longer. */
export type Directory<T> = readonly ReadonlyMap<Id, T>[];

export class Shards<T> {
  #directory: Map<Id, T>[] = [new Map()];
  #size = 0;
  // A shard, or the directory, may be written in place while its epoch is the current one. Snapshots start a new epoch.
  #epoch = 0;
  #directoryEpoch = 0;
  #shardEpochs: number[] = [0];

  get size(): number {
    return this.#size;
  }

  get(id: Id): T | undefined {
    const directory = this.#directory;
    return directory[shardOf(id, directory.length)]!.get(id);
  }

  set(id: Id, item: T): void {
    const shard = this.#writable(id);
    const before = shard.size;
    shard.set(id, item);
    if (shard.size === before) return;
    this.#size++;
    if (this.#size > MAX_AVERAGE_SIZE * this.#directory.length && this.#directory.length < MAX_SHARDS) this.#grow();
  }

  /** Removes an id that is present. */
  delete(id: Id): void {
    this.#writable(id).delete(id);
    this.#size--;
    // An emptied map starts small again; otherwise it would keep copying and walking a directory of empty shards.
    if (this.#size === 0) this.#replaceDirectory([new Map()]);
  }

  entries(): [Id, T][] {
    return this.#directory.flatMap((shard) => [...shard]);
  }

  snapshot(): Directory<T> {
    this.#epoch++;
    return this.#directory;
  }

  #writable(id: Id): Map<Id, T> {
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
    const count = this.#directory.length * GROWTH_FACTOR;
    const directory = Array.from({ length: count }, () => new Map<Id, T>());
    for (const shard of this.#directory) {
      for (const [id, item] of shard) directory[shardOf(id, count)]!.set(id, item);
    }
    this.#replaceDirectory(directory);
  }

  #replaceDirectory(directory: Map<Id, T>[]): void {
    this.#directory = directory;
    this.#directoryEpoch = this.#epoch;
    this.#shardEpochs = directory.map(() => this.#epoch);
  }
}
