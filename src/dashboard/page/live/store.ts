// All rows and the feed, as the server streams them. Listeners are notified at most once per frame.
import type { FeedItem, LiveLine, Row, RowType, Session } from '../../data.ts';
import { follow } from './stream.ts';

export interface State {
  /** By type; sorted by namespace and name. */
  readonly rows: { readonly [T in RowType]: readonly Extract<Row, { readonly type: T }>[] };
  readonly feed: readonly FeedItem[];
  readonly session: Session | undefined;
  /** Whether the first snapshot has arrived. */
  readonly isLoaded: boolean;
  /** Since when the connection is lost, and why. */
  readonly lost: { readonly since: number; readonly problem: string } | undefined;
  /** Why nobody is signed in; undefined if somebody is, or if signing in is not required. */
  readonly signedOut: string | undefined;
}

const NONE: State['rows'] = { environment: [], claim: [], target: [], rule: [], istio: [] };
const TYPES = Object.keys(NONE) as RowType[];
const NOTHING: State = {
  rows: NONE,
  feed: [],
  session: undefined,
  isLoaded: false,
  lost: undefined,
  signedOut: undefined,
};

const SIGNED_OUT = 'You have signed out.';

export const rowKey = ({ type, namespace, name }: Pick<Row, 'type' | 'namespace' | 'name'>): string =>
  `${type} ${namespace === '' ? '' : `${namespace}/`}${name}`;

class Store {
  state: State = NOTHING;
  /** When a row last changed, to highlight it for a moment. */
  readonly changedAt = new Map<string, number>();
  readonly #rows = new Map<string, Row>();
  readonly #listeners = new Set<() => void>();
  #next: Partial<State> = {};
  #touched = new Set<RowType>();
  #isWaiting = false;
  #stop = (): void => {};

  /** Other tabs: signing out applies to all of them. */
  readonly #tabs = new BroadcastChannel('offshoot-session');

  constructor() {
    this.#tabs.addEventListener('message', () => this.signOut(SIGNED_OUT));
  }

  /** Signs out in all tabs. */
  signOutEverywhere(): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has one origin only
    this.#tabs.postMessage('signed out');
    this.signOut(SIGNED_OUT);
  }

  /** Starts to follow the server's stream. */
  start(): () => void {
    this.#stop = follow<LiveLine>('/api/live', {
      line: (line) => this.#apply(line),
      open: () => this.#schedule({ lost: undefined, signedOut: undefined }),
      lost: (problem) => this.#schedule({ lost: { since: this.state.lost?.since ?? Date.now(), problem } }),
      signedOut: (problem) => this.signOut(problem),
    });
    return () => this.#stop();
  }

  /** Drops all data: it was for the signed-in user only. */
  signOut(why: string): void {
    this.#stop();
    this.#rows.clear();
    this.#touched.clear();
    this.changedAt.clear();
    this.#schedule({ ...NOTHING, signedOut: why });
  }

  /** Starts again after signing in. */
  signedIn(): void {
    this.#schedule(NOTHING);
    this.start();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #apply(line: LiveLine): void {
    if ('snapshot' in line) {
      this.#rows.clear();
      for (const row of line.snapshot) this.#rows.set(rowKey(row), row);
      for (const type of TYPES) this.#touched.add(type);
      this.#schedule({ session: line.session, isLoaded: true });
    } else if ('changes' in line) {
      for (const { key, row } of line.changes) this.#change(key, row);
      this.#schedule({});
    } else if ('feed' in line) this.#schedule({ feed: line.feed });
  }

  #change(key: string, row: Row | null): void {
    const before = this.#rows.get(key);
    if (row === null) this.#rows.delete(key);
    else this.#rows.set(key, row);
    if (row !== null && (before?.state !== row.state || before.problem !== row.problem)) {
      this.changedAt.set(key, performance.now());
    }
    this.#touched.add((row ?? before)?.type ?? 'environment');
  }

  /** Notifies listeners in the next frame. */
  #schedule(next: Partial<State>): void {
    this.#next = { ...this.#next, ...next };
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    requestAnimationFrame(() => this.#notify());
  }

  #notify(): void {
    this.#isWaiting = false;
    const before = { ...this.state, ...this.#next };
    const rows = this.#touched.size === 0 ? before.rows : { ...before.rows, ...this.#sorted() };
    this.state = { ...before, rows: rows as State['rows'] };
    this.#next = {};
    this.#touched.clear();
    for (const listener of this.#listeners) listener();
  }

  #sorted(): Partial<Record<RowType, readonly Row[]>> {
    const all = [...this.#rows.entries()];
    return Object.fromEntries(
      [...this.#touched].map((type) => {
        const own = all.filter(([, row]) => row.type === type);
        return [type, own.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)];
      }),
    );
  }
}

export const store = new Store();
