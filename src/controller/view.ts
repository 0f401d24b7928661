// Reading is subscribing: a view answers a plan's reads and remembers them, so that a change to anything that was read,
// or looked for and not found, wakes exactly the readers concerned.
import type { AnyKind, Ref } from '../kube/objects.ts';
import type { Tables } from '../kube/tables/tables.ts';
import { Tracker } from '../watchable/index.ts';
import type { Overlay, Read } from '../watchable/index.ts';
import { TrackedFacts } from './facts.ts';
import type { Facts } from './facts.ts';

/** The world as a plan sees it. Reads are answered at once and always from what has been observed. */
export interface View extends Facts {
  /** What the server said when it refused, during this reconcile, what the plan wanted of an object. */
  refusal: Refusal;
  /**
   * For how many milliseconds every plan of this object has found the same, from the first one on in this process; 0
   * then. For what may be under way: objects of two kinds do not arrive in the order in which they were made.
   */
  heldFor(finding: string): number;
  /** The time in milliseconds. Reading it subscribes to nothing: a plan says itself when to look again. */
  now(): number;
}

/** Why a write to an object was refused; undefined if none was. */
export type Refusal = (kind: AnyKind, ref: Ref) => string | undefined;

export interface ReadsOptions {
  readonly tables: Tables;
  readonly now: () => number;
  /** Called when something that a reader read has changed, once for all changes of a synchronous run. */
  readonly wake: (reader: string) => void;
  /** Called with each such change at once; see `TrackerOptions`. */
  readonly onChange?: (reader: string, value: unknown) => void;
  /** Read everything as it is in this overlay. */
  readonly overlay?: Overlay;
}

/** What a plan found, and since when every plan has found that. */
type Findings = ReadonlyMap<string, number>;

/** Who read what: the readers of a controller are the keys that it plans for. */
export class Reads {
  readonly #tables: Tables;
  readonly #now: () => number;
  readonly #tracker: Tracker<string>;
  /** By reader, those of its last plan. */
  readonly #findings = new Map<string, Findings>();

  constructor({ tables, now, ...tracking }: ReadsOptions) {
    this.#tables = tables;
    this.#now = now;
    this.#tracker = new Tracker(tracking);
  }

  /** Whether something concerns this reader. */
  has(reader: string): boolean {
    return this.#tracker.has(reader);
  }

  /** Runs `plan` with a view and makes its reads the reader's subscriptions, also when it throws. */
  track<R>(reader: string, plan: (view: View) => R, refusal: Refusal = () => undefined): R {
    const before = this.#findings.get(reader);
    let view = undefined as PlanView | undefined;
    try {
      return this.#tracker.track(reader, (read) =>
        plan((view = new PlanView(this.#tables, read, this.#now, refusal, before))),
      );
    } finally {
      const findings = view?.findings;
      if (findings !== undefined) this.#findings.set(reader, findings);
      else if (before !== undefined) this.#findings.delete(reader);
    }
  }

  /** Ends all subscriptions of a reader. */
  forget(reader: string): void {
    this.#tracker.forget(reader);
    this.#findings.delete(reader);
  }

  /** Wakes now whom it would wake after the synchronous run. */
  deliver(): void {
    this.#tracker.deliver();
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#tracker.close();
    this.#findings.clear();
  }
}

/** The view of one plan. */
class PlanView extends TrackedFacts implements View {
  readonly now: () => number;
  readonly refusal: Refusal;
  /** What this plan has found. */
  findings: Map<string, number> | undefined;
  readonly #before: Findings | undefined;

  constructor(tables: Tables, read: Read, now: () => number, refusal: Refusal, before: Findings | undefined) {
    super(tables, read);
    this.now = now;
    this.refusal = refusal;
    this.#before = before;
  }

  heldFor(finding: string): number {
    const since = this.#before?.get(finding) ?? this.now();
    (this.findings ??= new Map()).set(finding, since);
    return this.now() - since;
  }
}
