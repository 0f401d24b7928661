// Keys that wait for their moment: a heap by time, and for each key the one entry that counts. Used by the queue.

export interface Delay {
  readonly key: string;
  /** In the monotonic time of the queue's clock. */
  readonly at: number;
  priority: number;
}

/** Entries that no longer count are swept out when they are more than the others, and more than these few. */
const FEW = 64;

export class Delays {
  readonly #current = new Map<string, Delay>();
  #heap: Delay[] = [];

  /** Keys that wait. */
  get size(): number {
    return this.#current.size;
  }

  /** Entries that are held, also those that no longer count. */
  get held(): number {
    return this.#heap.length;
  }

  /** When to look for keys that are due. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** Makes a key wait. An earlier moment that is already set stays; so does the higher of two priorities. */
  set(key: string, at: number, priority: number): void {
    const before = this.#current.get(key);
    if (before !== undefined && before.at <= at) {
      before.priority = Math.max(before.priority, priority);
      return;
    }
    const entry: Delay = { key, at, priority: Math.max(priority, before?.priority ?? -Infinity) };
    this.#current.set(key, entry);
    push(this.#heap, entry);
    if (this.#heap.length > 2 * this.#current.size + FEW) this.#sweep();
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

  /** Takes out one key whose moment has come. */
  takeDue(now: number): Delay | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      pop(this.#heap);
      if (this.#current.get(first.key) !== first) continue;
      this.#current.delete(first.key);
      return first;
    }
    return undefined;
  }

  /** What is sorted is a heap. */
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
