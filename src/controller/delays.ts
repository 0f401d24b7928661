// Delayed keys: a heap by time, and the current entry of each key. Used by the queue.

export interface Delay {
  readonly key: string;
  /** In the monotonic time of the queue's clock. */
  readonly at: number;
  priority: number;
}

/** Outdated entries are removed when there are more of them than current ones, plus this many. */
const MAX_OUTDATED = 64;

export class Delays {
  readonly #current = new Map<string, Delay>();
  #heap: Delay[] = [];

  /** How many keys wait. */
  get size(): number {
    return this.#current.size;
  }

  /** How many entries the heap has, including outdated ones. */
  get held(): number {
    return this.#heap.length;
  }

  /** When to check for keys that are due. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** Delays a key. The earlier of two times and the higher of two priorities win. */
  set(key: string, at: number, priority: number): void {
    const before = this.#current.get(key);
    if (before !== undefined && before.at <= at) {
      before.priority = Math.max(before.priority, priority);
      return;
    }
    const entry: Delay = { key, at, priority: Math.max(priority, before?.priority ?? -Infinity) };
    this.#current.set(key, entry);
    push(this.#heap, entry);
    if (this.#heap.length > 2 * this.#current.size + MAX_OUTDATED) this.#sweep();
  }

  has(key: string): boolean {
    return this.#current.has(key);
  }

  delete(key: string): void {
    this.#current.delete(key);
  }

  clear(): void {
    this.#current.clear();
    this.#heap = [];
  }

  /** Removes and returns one key that is due. */
  takeDue(now: number): Delay | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      pop(this.#heap);
      if (this.#current.get(first.key) !== first) continue;
      this.#current.delete(first.key);
      return first;
    }
    return undefined;
  }

  /** A sorted array is a heap. */
  #sweep(): void {
    this.#heap = [...this.#current.values()].sort((a, b) => a.at - b.at);
  }
}

function push(heap: Delay[], entry: Delay): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]!.at <= entry.at) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

function pop(heap: Delay[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
    if (heap[child]!.at >= last.at) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
}
