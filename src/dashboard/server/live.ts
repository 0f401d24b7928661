// What changes, while it changes: rows as a snapshot and then what differs; the detail of one object whenever it is
// another one. Changes that come together are told together. Rights are looked at again all the while.
import { setTimeout as delay } from 'node:timers/promises';
import { factsOf } from '../../controller/index.ts';
import type { Settings } from '../../environments/index.ts';
import { environmentTables } from '../../environments/index.ts';
import { NotSynced, stringifyJson } from '../../kube/index.ts';
import type { AnyKind, Tables } from '../../kube/index.ts';
import { jsonEqual, Tracker, untracked } from '../../watchable/index.ts';
import { settle, TRUST_MS } from '../access/rights.ts';
import type { Visitor } from '../access/visitors.ts';
import type { Row, Session } from '../data.ts';
import { feedOf } from '../model/feed.ts';
import { Events } from '../model/reader.ts';
import { ROW_KINDS, rowFor, rowsBy } from '../model/rows.ts';
import type { Scope } from '../model/scope.ts';
import type { Lines } from './lines.ts';

/** Between two messages about the same thing: nobody sees more than that. */
const PACE_MS = 60;

/** What is read for rows: they are told once all of it is known. */
const READ: readonly AnyKind[] = [...Object.values(ROW_KINDS), ...environmentTables, Events];

/** Whoever looks, and at what. */
export interface Viewer {
  readonly tables: Tables;
  readonly settings: Settings;
  readonly visitor: Visitor;
}

/** Tells of all rows until the reader goes. */
export async function streamRows(lines: Lines, viewer: Viewer, session: Session): Promise<void> {
  const { signal } = lines;
  const { tables, settings, visitor } = viewer;
  for (const kind of READ) tables.of(kind);
  await Promise.all(READ.map((kind) => tables.of(kind).whenSynced(signal)));
  const map = factsOf(tables, untracked).model(rowsBy(settings));
  const told = new Map<string, Row>();
  const changed = new Set<string>();
  const begun = Promise.withResolvers<void>();
  let isBegun = false;
  const rows = repeat(viewer, signal, (wake) => ({
    follow: async () => {
      for await (const { initial, state, updates } of map.subscribe({ signal })) {
        for (const key of initial ? state.keys() : updates.map((update) => update.key)) changed.add(key);
        wake();
      }
    },
    act: async (isRecheck) => {
      const keys = isRecheck ? new Set([...told.keys(), ...map.loadAll().keys()]) : new Set(changed);
      changed.clear();
      const current = await settle(visitor.rights, (may) => {
        const facts = factsOf(tables, untracked);
        return [...keys].map((key) => {
          const shared = map.get(key);
          return { key, row: shared && rowFor({ facts, settings, may }, shared) };
        });
      });
      const changes = current
        .filter(({ key, row }) => !jsonEqual(told.get(key), row))
        .map(({ key, row = null }) => ({ key, row }));
      for (const { key, row } of changes) {
        if (row === null) told.delete(key);
        else told.set(key, row);
      }
      if (!isBegun) await lines.write({ snapshot: [...told.values()], session });
      else if (changes.length > 0) await lines.write({ changes });
      isBegun = true;
      begun.resolve();
    },
  }));
  const feed = begun.promise.then(() => followValue(viewer, signal, feedOf, (items) => lines.write({ feed: items })));
  await Promise.all([rows.finally(begun.resolve), feed]);
}

/** Tells of one thing whenever it is another one, until the reader goes. */
export async function followValue<T>(
  viewer: Viewer,
  signal: AbortSignal,
  compute: (scope: Scope) => T,
  tell: (value: T) => Promise<void>,
): Promise<void> {
  const { tables, settings, visitor } = viewer;
  let told: string | undefined;
  let tracker: Tracker<'value'> | undefined;
  await repeat(viewer, signal, (wake) => {
    const tracking = (tracker = new Tracker<'value'>({ wake }));
    wake();
    return {
      act: async () => {
        try {
          const value = await settle(visitor.rights, (may) =>
            tracking.track('value', (read) => compute({ facts: factsOf(tables, read), settings, may })),
          );
          const text = stringifyJson(value);
          if (text !== told) await tell(value);
          told = text;
        } catch (error) {
          if (!(error instanceof NotSynced)) throw error;
        }
      },
    };
  }).finally(() => tracker?.close());
}

interface Repeated {
  /** What wakes us besides: it goes on until the reader goes. */
  readonly follow?: () => Promise<void>;
  /** Done when woken, and, as a recheck, when rights may have changed. */
  readonly act: (isRecheck: boolean) => Promise<void>;
}

/** Acts whenever it is woken, never twice at a time, until the reader goes or may no longer be answered. */
async function repeat({ visitor }: Viewer, signal: AbortSignal, make: (wake: () => void) => Repeated): Promise<void> {
  let isWoken = false;
  let isDue = false;
  let failure: { readonly error: unknown } | undefined;
  let resume = (): void => {};
  const wake = (): void => {
    isWoken = true;
    resume();
  };
  const { follow, act } = make(wake);
  const recheck =
    visitor.rights &&
    setInterval(() => {
      isDue = true;
      wake();
    }, TRUST_MS);
  signal.addEventListener('abort', wake, { once: true });
  follow?.().catch((error: unknown) => {
    failure = { error };
    wake();
  });
  try {
    while (!signal.aborted) {
      if (!isWoken) await new Promise<void>((resolve) => (resume = resolve));
      if (signal.aborted) return;
      if (failure !== undefined) throw failure.error;
      const isRecheck = isDue;
      isWoken = isDue = false;
      if (isRecheck) await visitor.check();
      await act(isRecheck);
      await delay(PACE_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    clearInterval(recheck);
    signal.removeEventListener('abort', wake);
  }
}

/** Computes something once, when all that it reads is known. */
export async function once<T>({ tables, settings, visitor }: Viewer, compute: (scope: Scope) => T): Promise<T> {
  for (;;) {
    try {
      return await settle(visitor.rights, (may) => compute({ facts: factsOf(tables, untracked), settings, may }));
    } catch (error) {
      if (!(error instanceof NotSynced)) throw error;
      await error.table.whenSynced();
    }
  }
}
