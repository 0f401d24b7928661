// Reading is subscribing: a view answers the reads of a plan and tracks them, so that a change of anything that was
// read, or was not found, wakes exactly the readers it affects.
import type { AnyKind, Ref } from '../kube/objects.ts';
import type { Tables } from '../kube/tables/tables.ts';
import { Tracker } from '../watchable/index.ts';
import type { Overlay, Read } from '../watchable/index.ts';
import { TrackedFacts } from './facts.ts';
import type { Facts } from './facts.ts';

/** The cluster as a plan sees it. Reads are answered at once, from the tables. */
export interface View extends Facts {
  /** Why the server refused a write to an object during this reconcile. */
  refusal: Refusal;
  /**
   * For how many milliseconds every plan of this object, in this process, has had this finding; 0 for the first one.
   * For grace periods: objects of two kinds do not arrive in the order in which they were created.
   */
  heldFor(finding: string): number;
  /** The time in milliseconds. Reading it subscribes to nothing: a plan sets `requeueAfterMs` itself. */
  now(): number;
  /**
   * Milliseconds until a time to live is over; 0 or less once it is. Infinity in a forecast, unless it was over at the
   * start: otherwise a plan would show the end of a short life instead of what is created.
   */
  untilExpiry(at: number): number;
}

/** Why a write to an object was refused; undefined if none was. */
export type Refusal = (kind: AnyKind, ref: Ref) => string | undefined;

export interface ReadsOptions {
  readonly tables: Tables;
  readonly now: () => number;
  /** In a forecast: times to live that are over later than this do not end. */
  readonly lastExpiry?: number;
  /** Called when something that a reader read has changed, once for all changes of a synchronous run. */
  readonly wake: (reader: string) => void;
  /** Called with each such change at once; see `TrackerOptions`. */
  readonly onChange?: (reader: string, value: unknown) => void;
  /** Read everything as it is in this overlay. */
  readonly overlay?: Overlay;
}

/** The findings of a plan, and since when every plan has had each of them. */
type Findings = ReadonlyMap<string, number>;

/** Tracks who read what: the readers of a controller are the keys that it plans for. */
export class Reads {
  readonly #tables: Tables;
  readonly #now: () => number;
  readonly #lastExpiry: number;
  readonly #tracker: Tracker<string>;
  /** By reader: the findings of its last plan. */
  readonly #findings = new Map<string, Findings>();

  constructor({ tables, now, lastExpiry = Infinity, ...tracking }: ReadsOptions) {
    this.#tables = tables;
    this.#now = now;
    this.#lastExpiry = lastExpiry;
    this.#tracker = new Tracker(tracking);
  }

  /** Whether this reader is tracked. */
  has(reader: string): boolean {
    return this.#tracker.has(reader);
  }

  /** Runs `plan` with a view and makes its reads the reader's subscriptions, also when it throws. */
  track<R>(reader: string, plan: (view: View) => R, refusal: Refusal = () => undefined): R {
    const before = this.#findings.get(reader);
    let view = undefined as PlanView | undefined;
    try {
      return this.#tracker.track(reader, (read) =>
        plan((view = new PlanView(this.#tables, read, this.#now, this.#lastExpiry, refusal, before))),
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

  /** Wakes readers now instead of after the synchronous run. */
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
  /** The findings of this plan. */
  findings: Map<string, number> | undefined;
  readonly #lastExpiry: number;
  readonly #before: Findings | undefined;

  constructor(
    tables: Tables,
    read: Read,
    now: () => number,
    lastExpiry: number,
    refusal: Refusal,
    before: Findings | undefined,
  ) {
    super(tables, read);
    this.now = now;
    this.#lastExpiry = lastExpiry;
    this.refusal = refusal;
    this.#before = before;
  }

  heldFor(finding: string): number {
    const since = this.#before?.get(finding) ?? this.now();
    (this.findings ??= new Map()).set(finding, since);
    return this.now() - since;
  }

  untilExpiry(at: number): number {
    return at <= this.#lastExpiry ? at - this.now() : Infinity;
  }
}
