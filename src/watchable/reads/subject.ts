// The dependency graph behind tracked reads: what can be read (subjects) and who read it (readers).
//
// A change marks its readers as stale at once, and everything that depends on them as suspect; nothing is computed yet.
// A suspect reader first refreshes what it read, in the same order, and runs again only if some of that has changed.

/** Nothing that the reader depends on has changed. */
const FRESH = 0;
/** Something that it depends on may have changed. */
export const SUSPECT = 1;
/** Something that it read has changed. */
export const STALE = 2;
export type Staleness = typeof FRESH | typeof SUSPECT | typeof STALE;

/** Is marked when a subject changes. */
export interface Dependent {
  /** `change` is what changed, if the subject knows it. */
  mark(staleness: Staleness, subject: Subject, change?: unknown): void;
}

/** Where reads are recorded. */
export interface Reads {
  add(subject: Subject): void;
}

/** Something that can be read: an entry, a list, a derived value. Knows its readers. */
export abstract class Subject {
  /** Nearly always one; a set is created only for more. */
  #readers: Dependent | Set<Dependent> | undefined;

  get isRead(): boolean {
    return this.#readers !== undefined;
  }

  /** Whether it is being computed, so that reading it would be a cycle. */
  get isBusy(): boolean {
    return false;
  }

  addReader(reader: Dependent): void {
    const readers = this.#readers;
    if (readers === undefined || readers === reader) this.#readers = reader;
    else if (readers instanceof Set) readers.add(reader);
    else this.#readers = new Set([readers, reader]);
  }

  removeReader(reader: Dependent): void {
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
  /** Called when the last reader has left. */
  protected abstract unread(): void;
}

const NOTHING: readonly Subject[] = [];
/** Up to this many subjects are searched one by one. */
const MAX_LINEAR_SEARCH = 16;

/** What one computation has read, and whether that is still up to date. */
export abstract class Reader implements Dependent, Reads {
  /** What the last run has read, in order. */
  #subjects = NOTHING;
  #isRunning = false;
  /** While it runs: how many of these it has read again, in the same order. Most runs read nothing else. */
  #repeated = 0;
  /** While it runs, once its reads differ from those of the last run: everything that it has read. */
  #read: Set<Subject> | undefined;
  #staleness: Staleness = STALE;

  /** Called when a fresh reader becomes suspect or stale. */
  protected abstract doubted(): void;
  /** Called on every mark, the first and all later ones. */
  protected marked(_change: unknown): void {}

  /** What the running computation has read so far. */
  get reading(): Iterable<Subject> {
    return this.#read ?? this.#subjects.slice(0, this.#repeated);
  }

  mark(staleness: Staleness, subject: Subject, change?: unknown): void {
    // While it runs, only the reads of this run count.
    if (this.#isRunning && !this.#hasRead(subject)) return;
    this.marked(change);
    if (staleness <= this.#staleness) return;
    const wasFresh = this.#staleness === FRESH;
    this.#staleness = staleness;
    if (wasFresh) this.doubted();
  }

  /** Runs a computation. Its reads replace those of the last run, also when it throws. */
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
      if (this.#repeated <= MAX_LINEAR_SEARCH && this.#hasRead(subject)) return;
      this.#read = new Set(this.reading);
    }
    this.#read.add(subject);
    subject.addReader(this);
  }

  /**
   * Refreshes what it read and returns whether any of that has changed. `doubtAll`: check even if nothing was marked,
   * because marks may not have arrived yet.
   */
  isStale(doubtAll = false): boolean {
    if (this.#staleness === FRESH && !doubtAll) return false;
    for (const subject of this.#subjects) {
      // The subject is being computed and reads this reader: only running again shows whether the cycle remains.
      if (subject.isBusy) this.#staleness = STALE;
      if (this.#staleness === STALE) break;
      subject.refresh();
    }
    if (this.#staleness === STALE) return true;
    this.#staleness = FRESH;
    return false;
  }

  /** Becomes fresh without running again. */
  settle(): void {
    this.#staleness = FRESH;
  }

  /** Forgets everything that it read. */
  drop(): void {
    const subjects = this.#subjects;
    this.#subjects = NOTHING;
    this.#staleness = STALE;
    for (const subject of subjects) subject.removeReader(this);
  }

  #hasRead(subject: Subject): boolean {
    if (this.#read !== undefined) return this.#read.has(subject);
    const at = this.#subjects.indexOf(subject);
    return at >= 0 && at < this.#repeated;
  }

  /** Ends a run: leaves the subjects that it has not read again. */
  #keep(): void {
    const before = this.#subjects;
    const read = this.#read;
    const repeated = this.#repeated;
    this.#read = undefined;
    this.#repeated = 0;
    if (read === undefined && repeated === before.length) return;
    this.#subjects = read === undefined ? before.slice(0, repeated) : [...read];
    for (const subject of before.slice(repeated)) if (read?.has(subject) !== true) subject.removeReader(this);
  }
}
