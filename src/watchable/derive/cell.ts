// One derived value: computed on first read, cached while it has readers, and recomputed only if something that it read
// has changed. An equal result wakes nobody.
import type { Id } from '../hash.ts';
import { Reader, STALE, Subject, SUSPECT } from '../reads/subject.ts';
import type { Reads } from '../reads/subject.ts';
import { dropLater, lagEpoch } from '../reads/turn.ts';
import { cycleThrough, within } from './derivation.ts';
import type { Derivation } from './derivation.ts';

type Outcome<T> = { readonly value: T; readonly failed: false } | { readonly error: unknown; readonly failed: true };

/** What all values of one derived map share. */
export interface Formula<K, V> {
  readonly owner: Derivation;
  readonly name: string;
  compute(reads: Reads, key: K): V | undefined;
  equals(a: V, b: V): boolean;
  /** Called when the value has no readers left. */
  drop(id: Id): void;
}

export class Cell<K, V> extends Subject {
  readonly key: K;
  readonly #id: Id;
  readonly #formula: Formula<K, V>;
  readonly #reader = new CellReader(this);
  #outcome: Outcome<V | undefined> | undefined;
  #isBusy = false;
  #checkedAt = -1;

  constructor(formula: Formula<K, V>, id: Id, key: K) {
    super();
    this.key = key;
    this.#id = id;
    this.#formula = formula;
    dropLater(this);
  }

  /** Its name in error messages. */
  get label(): string {
    const { name } = this.#formula;
    return this.#id === undefined ? name : `${name}[${JSON.stringify(this.#id)}]`;
  }

  override get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The error, if the last computation failed. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#outcome?.failed === true ? this.#outcome : undefined;
  }

  /** The value as of the last refresh; throws the error if computing it failed. */
  get value(): V | undefined {
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
    this.#formula.drop(this.#id);
  }

  protected unread(): void {
    dropLater(this);
  }

  #compute(): void {
    const before = this.#outcome;
    const reader = this.#reader;
    this.#isBusy = true;
    const after = within({ of: this, owner: this.#formula.owner, reader }, () => reader.run(() => this.#try()));
    this.#isBusy = false;
    const isSame = before !== undefined && this.#isSame(before, after);
    // An equal error wakes nobody, but may differ in what is not compared, such as its cause: keep the latest.
    if (!isSame || after.failed) this.#outcome = after;
    if (!isSame) this.mark(STALE);
  }

  #try(): Outcome<V | undefined> {
    try {
      return { value: this.#formula.compute(this.#reader, this.key), failed: false };
    } catch (error) {
      return { error, failed: true };
    }
  }

  #isSame(a: Outcome<V | undefined>, b: Outcome<V | undefined>): boolean {
    if (a.failed || b.failed) return a.failed && b.failed && isSameError(a.error, b.error);
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return a.value === b.value || this.#formula.equals(a.value, b.value);
  }
}

/** Whether two errors have the same message and the same properties, such as the name of what is waited for. */
function isSameError(a: unknown, b: unknown): boolean {
  if (String(a) !== String(b)) return false;
  const other = Object(b) as Readonly<Record<string, unknown>>;
  return Object.entries(Object(a) as object).every(([name, value]) => other[name] === value);
}

class CellReader extends Reader {
  readonly #cell: Subject;

  constructor(cell: Subject) {
    super();
    this.#cell = cell;
  }

  protected doubted(): void {
    this.#cell.mark(SUSPECT);
  }
}
