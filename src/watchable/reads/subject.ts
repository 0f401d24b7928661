// The dependency graph behind tracked reads: what can be read (subjects) and who read it (readers).
//
// A change marks its readers at once, and whoever depends on them as suspect; nothing is computed then. Whoever asks
// manages what it read, in the order in which it read it, and has to work again only if something of that changed.

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
  /** Nearly always one; a set is made only for more. */
  #readers: Dependent | Set<Dependent> | undefined;

  get isRead(): boolean {
    return this.#readers !== undefined;
  }

  /** Whether it is just being computed, so that asking for it would go round in a circle. */
  get isBusy(): boolean {
    return false;
  }

  join(reader: Dependent): void {
    const readers = this.#readers;
    if (readers === undefined || readers === reader) this.#readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else this.#readers = new Set([readers, reader]);
  }

  leave(reader: Dependent): void {
    const readers = this.#readers;
    if (readers instanceof Set ? !readers.delete(reader) || readers.size > 0 : readers !== reader) return;
    this.#readers = undefined;
    this.unread();
  }

  mark(staleness: Staleness, change?: unknown): void {
    const readers = this.#readers;
    if (readers instanceof Set) for (const reader of readers) reader.mark(staleness, this, change);
    else readers?.mark(staleness, this, change);
  }

  /** Brings it up to date; marks its readers if that changed it. */
  abstract refresh(): void;
  /** The last reader has left. */
  protected abstract unread(): void;
}

const NOTHING: readonly Subject[] = [];
/** So few can be searched one by one. */
const FEW = 16;

/** What one computation has read, and whether that still holds. */
export abstract class Reader implements Dependent, Reads {
  /** What the last run has read, in that order. */
  #subjects = NOTHING;
  #isRunning = false;
  /** While it runs: how many of these it has read again, in the same order. Most runs read nothing else. */
  #repeated = 0;
  /** While it runs, from the first subject on that is another one: everything that it has read. */
  #read: Set<Subject> | undefined;
  #staleness: Staleness = STALE;

  /** It was fresh, and has become suspect or stale. */
  protected abstract doubted(): void;
  /** It is marked, once more or for the first time. */
  protected marked(_change: unknown): void {}

  /** What the computation under way has read so far. */
  get reading(): Iterable<Subject> {
    return this.#read ?? this.#subjects.slice(0, this.#repeated);
  }

  mark(staleness: Staleness, subject: Subject, change?: unknown): void {
    // While it runs, what an earlier run read does not count any more.
    if (this.#isRunning && !this.#hasRead(subject)) return;
    this.marked(change);
    if (staleness <= this.#staleness) return;
    const wasFresh = this.#staleness === FRESH;
    this.#staleness = staleness;
    if (wasFresh) this.doubted();
  }

  /** Runs a computation. What it reads takes the place of what was read before, also when it throws. */
  run<T>(compute: () => T): T {
    this.#isRunning = true;
    this.#staleness = FRESH;
    try {
      return compute();
    } finally {
      this.#isRunning = false;
      this.#keep();
    }
  }

  add(subject: Subject): void {
    if (!this.#isRunning) {
      throw new Error('a map was read through a "read" whose function has returned: read before the first await');
    }
    if (this.#read === undefined) {
      if (this.#subjects[this.#repeated] === subject) {
        this.#repeated++;
        return;
      }
      if (this.#repeated <= FEW && this.#hasRead(subject)) return;
      this.#read = new Set(this.reading);
    }
    this.#read.add(subject);
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
    this.#subjects = NOTHING;
    this.#staleness = STALE;
    for (const subject of subjects) subject.leave(this);
  }

  #hasRead(subject: Subject): boolean {
    if (this.#read !== undefined) return this.#read.has(subject);
    const at = this.#subjects.indexOf(subject);
    return at >= 0 && at < this.#repeated;
  }

  /** Ends a run: what it has not read again concerns it no more. */
  #keep(): void {
    const before = this.#subjects;
    const read = this.#read;
    const repeated = this.#repeated;
    this.#read = undefined;
    this.#repeated = 0;
    if (read === undefined && repeated === before.length) return;
    this.#subjects = read === undefined ? before.slice(0, repeated) : [...read];
    for (const subject of before.slice(repeated)) if (read?.has(subject) !== true) subject.leave(this);
  }
}
