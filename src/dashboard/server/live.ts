// Live data: rows as a snapshot followed by changes; one object in detail whenever it changes. Changes are batched. The
// user's permissions are checked again at intervals.
import { setTimeout as delay } from 'node:timers/promises';
import { factsOf } from '../../controller/index.ts';
import type { Settings } from '../../environments/index.ts';
import { environmentTables } from '../../environments/index.ts';
import { NotSynced, stringifyJson } from '../../kube/index.ts';
import type { AnyKind, Tables } from '../../kube/index.ts';
import { jsonEqual, Tracker, untracked } from '../../watchable/index.ts';
import { settle, TRUST_MS } from '../access/permissions.ts';
import type { Visitor } from '../access/visitors.ts';
import type { Row, Session } from '../data.ts';
import { feedOf } from '../model/feed.ts';
import { Events } from '../model/reader.ts';
import { ROW_KINDS, rowFor, rowsBy } from '../model/rows.ts';
import type { Scope } from '../model/scope.ts';
import type { Lines } from './lines.ts';

/** The minimum interval between two messages: people can't see faster changes. */
const PACE_MS = 60;

/** The kinds that rows are made of: rows are sent once all of these are synced. */
const READ: readonly AnyKind[] = [...Object.values(ROW_KINDS), ...environmentTables, Events];

/** A user with the tables that they look at. */
export interface Viewer {
  readonly tables: Tables;
  readonly settings: Settings;
  readonly visitor: Visitor;
}

/** Streams all rows until the reader disconnects. */
export async function streamRows(lines: Lines, viewer: Viewer, session: Session): Promise<void> {
  const { signal } = lines;
  const { tables, settings, visitor } = viewer;
  for (const kind of READ) tables.of(kind);
  await Promise.all(READ.map((kind) => tables.of(kind).whenSynced(signal)));
  const map = factsOf(tables, untracked).model(rowsBy(settings));
  const sent = new Map<string, Row>();
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
      const keys = isRecheck ? new Set([...sent.keys(), ...map.loadAll().keys()]) : new Set(changed);
      changed.clear();
      const current = await settle(visitor.permissions, (may) => {
        const facts = factsOf(tables, untracked);
        return [...keys].map((key) => {
          const shared = map.get(key);
          return { key, row: shared && rowFor({ facts, settings, may }, shared) };
        });
      });
      const changes = current
        .filter(({ key, row }) => !jsonEqual(sent.get(key), row))
        .map(({ key, row = null }) => ({ key, row }));
      for (const { key, row } of changes) {
        if (row === null) sent.delete(key);
        else sent.set(key, row);
      }
      if (!isBegun) await lines.write({ snapshot: [...sent.values()], session });
      else if (changes.length > 0) await lines.write({ changes });
      isBegun = true;
      begun.resolve();
    },
  }));
  const feed = begun.promise.then(() => followValue(viewer, signal, feedOf, (items) => lines.write({ feed: items })));
  await Promise.all([rows.finally(begun.resolve), feed]);
}

/** Sends a value whenever it changes, until the reader disconnects. */
export async function followValue<T>(
  viewer: Viewer,
  signal: AbortSignal,
  compute: (scope: Scope) => T,
  send: (value: T) => Promise<void>,
): Promise<void> {
  const { tables, settings, visitor } = viewer;
  let sent: string | undefined;
  let tracker: Tracker<'value'> | undefined;
  await repeat(viewer, signal, (wake) => {
    const tracking = (tracker = new Tracker<'value'>({ wake }));
    wake();
    return {
      act: async () => {
        try {
          const value = await settle(visitor.permissions, (may) =>
            tracking.track('value', (read) => compute({ facts: factsOf(tables, read), settings, may })),
          );
          const text = stringifyJson(value);
          if (text !== sent) await send(value);
          sent = text;
        } catch (error) {
          if (!(error instanceof NotSynced)) throw error;
        }
      },
    };
  }).finally(() => tracker?.close());
}

interface Repeated {
  /** A further source of wake-ups, which runs until the reader disconnects. */
  readonly follow?: () => Promise<void>;
  /** Runs when woken, and as a recheck when permissions may have changed. */
  readonly act: (isRecheck: boolean) => Promise<void>;
}

/** Acts whenever it is woken, never concurrently, until the reader disconnects or loses access. */
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
    visitor.permissions &&
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

/** Computes a value once, when all tables that it reads are synced. */
export async function once<T>({ tables, settings, visitor }: Viewer, compute: (scope: Scope) => T): Promise<T> {
  for (;;) {
    try {
      return await settle(visitor.permissions, (may) => compute({ facts: factsOf(tables, untracked), settings, may }));
    } catch (error) {
      if (!(error instanceof NotSynced)) throw error;
      await error.table.whenSynced();
    }
  }
}
