// The dependency graph behind tracked reads: what can be read (subjects) and who read it (readers).
//
// A change marks its readers at once, and whoever depends on them as suspect; nothing is computed then. Whoever asks
// looks after what it read, in the order in which it read it, and has to work again only if something of that changed.

/** How far the result of a reader can be trusted. */
const FRESH = 0;
/** Something that it depends on may come out differently. */
export const SUSPECT = 1;
/** Something that it read has changed. */
export const STALE = 2;
export type Staleness = typeof FRESH | typeof SUSPECT | typeof STALE;

/** Whoever is told when a subject changes. */
export interface Dependent {
  /** `change` is what changed, where the subject knows that. */
  mark(staleness: Staleness, subject: Subject, change?: unknown): void;
}

/** Where reads are recorded. */
export interface Reads {
  add(subject: Subject): void;
}

/** Something that can be read: an entry, a list, a derived value. Knows its readers. */
export abstract class Subject {
  readonly #readers = new Set<Dependent>();

  get isRead(): boolean {
    return this.#readers.size > 0;
  }

  /** Whether it is just being computed, so that asking for it would go round in a circle. */
  get isBusy(): boolean {
    return false;
  }

  join(reader: Dependent): void {
    this.#readers.add(reader);
  }

  leave(reader: Dependent): void {
    if (this.#readers.delete(reader) && this.#readers.size === 0) this.unread();
  }

  mark(staleness: Staleness, change?: unknown): void {
    for (const reader of this.#readers) reader.mark(staleness, this, change);
  }

  /** Brings it up to date; marks its readers if that changed it. */
  abstract refresh(): void;
  /** The last reader has left. */
  protected abstract unread(): void;
}

/** What one computation has read, and whether that still holds. */
export class Reader implements Dependent, Reads {
  readonly #onDoubt: () => void;
  readonly #onMark: ((change: unknown) => void) | undefined;
  #subjects = new Set<Subject>();
  /** While it runs: what it has read so far. */
  #reading: Set<Subject> | undefined;
  #staleness: Staleness = STALE;

  /** `onDoubt` is called when a fresh reader becomes suspect or stale, `onMark` every time that it is marked. */
  constructor(onDoubt: () => void, onMark?: (change: unknown) => void) {
    this.#onDoubt = onDoubt;
    this.#onMark = onMark;
  }

  /** What the computation under way has read so far. */
  get reading(): Iterable<Subject> {
    return this.#reading ?? [];
  }

  mark(staleness: Staleness, subject: Subject, change?: unknown): void {
    // While it runs, what an earlier run read does not count any more.
    if (this.#reading?.has(subject) === false) return;
    this.#onMark?.(change);
    if (staleness <= this.#staleness) return;
    const wasFresh = this.#staleness === FRESH;
    this.#staleness = staleness;
    if (wasFresh) this.#onDoubt();
  }

  /** Runs a computation. What it reads takes the place of what was read before, also when it throws. */
  run<T>(compute: () => T): T {
    const before = this.#subjects;
    const reading = new Set<Subject>();
    this.#reading = reading;
    this.#staleness = FRESH;
    try {
      return compute();
    } finally {
      this.#reading = undefined;
      this.#subjects = reading;
      for (const subject of before) if (!reading.has(subject)) subject.leave(this);
    }
  }

  add(subject: Subject): void {
    if (this.#reading === undefined) {
      throw new Error('a map was read through a "read" whose function has returned: read before the first await');
    }
    this.#reading.add(subject);
    subject.join(this);
  }

  /**
   * Whether something that it read has changed, after bringing that up to date. `doubtAll`: look even if nothing was
   * marked, because marks may still be on their way.
   */
  isStale(doubtAll = false): boolean {
    if (this.#staleness === FRESH && !doubtAll) return false;
    for (const subject of this.#subjects) {
      // What is being computed now asks for this reader: only running again tells whether it still goes in a circle.
      if (subject.isBusy) this.#staleness = STALE;
      if (this.#staleness === STALE) break;
      subject.refresh();
    }
    if (this.#staleness === STALE) return true;
    this.#staleness = FRESH;
    return false;
  }

  /** Takes everything as seen, without running again. */
  settle(): void {
    this.#staleness = FRESH;
  }

  /** Forgets what it read. */
  drop(): void {
    const subjects = this.#subjects;
    this.#subjects = new Set();
    this.#staleness = STALE;
    for (const subject of subjects) subject.leave(this);
  }
}
