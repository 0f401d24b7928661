// One derived value: computed when it is first asked for, kept while somebody reads it, computed again only if something
// that it read has changed. An equal result concerns nobody.
import { CycleError } from '../errors.ts';
import { Reader, STALE, Subject, SUSPECT } from '../reads/subject.ts';
import type { Reads } from '../reads/subject.ts';
import { anyLags, dropLater, lagEpoch, lags, settle } from '../reads/turn.ts';

/** What a cell computes, and for whom. */
export interface Formula<T> {
  readonly owner: Derivation;
  readonly label: string;
  compute(reads: Reads): T;
  isEqual(a: T, b: T): boolean;
  /** Nobody reads the cell any more. */
  drop(): void;
}

/** A computation under way; the innermost one comes last. */
interface Frame {
  readonly of: unknown;
  readonly label: string;
  readonly reader?: Reader;
  readonly owner: Derivation;
}

type Outcome<T> = { readonly value: T; readonly failed: false } | { readonly error: unknown; readonly failed: true };

const frames: Frame[] = [];

/** A map that is computed from others. */
export abstract class Derivation {
  readonly #upstream = new Set<Derivation>();

  /** Whether a map that this one was ever computed from has lists to bring up to date. */
  isBehindOthers(): boolean {
    return anyLags() && this.#isBelowLag(new Set([this]));
  }

  /** To be called before it is read: everything that it depends on is then up to date, or known not to be. */
  protected enter(): void {
    const reader = frames.at(-1)?.owner;
    if (reader === undefined) settle();
    else reader.#upstream.add(this);
  }

  #isBelowLag(seen: Set<Derivation>): boolean {
    for (const map of this.#upstream) {
      if (seen.has(map)) continue;
      seen.add(map);
      if (lags(map) || map.#isBelowLag(seen)) return true;
    }
    return false;
  }
}

/** Runs a computation, so that one that leads back to it is recognised. */
export function within<T>(frame: Frame, compute: () => T): T {
  frames.push(frame);
  try {
    return compute();
  } finally {
    frames.pop();
  }
}

/** The error for something that was asked for while it is being computed. */
export function cycleThrough(of: unknown): CycleError {
  const start = frames.findIndex((frame) => frame.of === of);
  const way = frames.slice(start);
  // Whoever gets the error depends on everything that led here, but not on what waits for it.
  const innermost = frames.at(-1)?.reader;
  for (const { reader } of way) {
    if (reader === innermost) continue;
    for (const subject of reader?.reading ?? []) innermost?.add(subject);
  }
  return new CycleError([...way, way[0]!].map(({ label }) => label));
}

export class Cell<T> extends Subject {
  readonly #formula: Formula<T>;
  readonly #reader = new CellReader(this);
  #outcome: Outcome<T> | undefined;
  #isBusy = false;
  #checkedAt = -1;

  constructor(formula: Formula<T>) {
    super();
    this.#formula = formula;
    dropLater(this);
  }

  override get isBusy(): boolean {
    return this.#isBusy;
  }

  /** What failed, if computing it did. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#outcome?.failed === true ? this.#outcome : undefined;
  }

  /** The value, as it was when it was last refreshed; throws what computing it threw. */
  get value(): T {
    if (this.#outcome!.failed) throw this.#outcome!.error;
    return this.#outcome!.value;
  }

  refresh(): void {
    if (this.#isBusy) throw cycleThrough(this);
    const epoch = lagEpoch();
    const isDoubtful = this.#checkedAt !== epoch && this.#formula.owner.isBehindOthers();
    if (this.#reader.isStale(isDoubtful)) this.#compute();
    this.#checkedAt = epoch;
  }

  dropIfUnread(): void {
    if (this.isRead || this.#isBusy) return;
    this.#reader.drop();
    this.#formula.drop();
  }

  protected unread(): void {
    dropLater(this);
  }

  #compute(): void {
    const before = this.#outcome;
    this.#isBusy = true;
    const { label, owner } = this.#formula;
    const after = within({ of: this, label, owner, reader: this.#reader }, () => this.#reader.run(() => this.#try()));
    this.#isBusy = false;
    if (before !== undefined && this.#isSame(before, after)) return;
    this.#outcome = after;
    this.mark(STALE);
  }

  #try(): Outcome<T> {
    try {
      return { value: this.#formula.compute(this.#reader), failed: false };
    } catch (error) {
      return { error, failed: true };
    }
  }

  #isSame(a: Outcome<T>, b: Outcome<T>): boolean {
    if (a.failed || b.failed) return a.failed && b.failed && String(a.error) === String(b.error);
    return this.#formula.isEqual(a.value, b.value);
  }
}

class CellReader extends Reader {
  readonly #cell: Cell<unknown>;

  constructor(cell: Cell<unknown>) {
    super();
    this.#cell = cell;
  }

  protected doubted(): void {
    this.#cell.mark(SUSPECT);
  }
}
