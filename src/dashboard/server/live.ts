// What changes, while it changes: rows as a snapshot and then what differs; the detail of one object whenever it is
// another one. Changes that come together are told together.
import { setTimeout as delay } from 'node:timers/promises';
import { factsOf } from '../../controller/index.ts';
import type { Facts } from '../../controller/index.ts';
import { NotSynced, stringifyJson } from '../../kube/index.ts';
import type { AnyKind, Tables } from '../../kube/index.ts';
import { Tracker, untracked } from '../../watchable/index.ts';
import type { Update } from '../../watchable/index.ts';
import type { LiveLine, Row, Session } from '../data.ts';
import { feedOf } from '../model/feed.ts';
import { Events } from '../model/reader.ts';
import type { MayRead } from '../model/reader.ts';
import { ROW_KINDS, rows } from '../model/rows.ts';
import { environmentTables } from '../../environments/index.ts';
import type { Lines } from './lines.ts';

/** Between two messages about the same thing: nobody sees more than that. */
const PACE_MS = 60;

/** What is read for rows: they are told once all of it is known. */
const READ: readonly AnyKind[] = [...Object.values(ROW_KINDS), ...environmentTables, Events];

const pause = (signal: AbortSignal): Promise<unknown> => delay(PACE_MS, undefined, { signal }).catch(() => {});

/** Tells of all rows until the reader goes. */
export async function streamRows(lines: Lines, tables: Tables, session: Session, mayRead: MayRead): Promise<void> {
  const { signal } = lines;
  for (const kind of READ) tables.of(kind);
  await Promise.all(READ.map((kind) => tables.of(kind).whenSynced(signal)));
  const map = factsOf(tables, untracked).model(rows);
  const isShown = (row: Row): boolean => mayRead(ROW_KINDS[row.type], row.namespace);
  const following = followValue(
    tables,
    signal,
    (facts) => feedOf(facts, mayRead),
    (feed) => lines.write({ feed }),
  );
  for await (const { initial, state, updates } of map.subscribe({ signal })) {
    const line: LiveLine = initial
      ? { snapshot: [...state.values()].filter(isShown), session }
      : { changes: changesIn(updates.filter(({ value }) => isShown(value))) };
    await lines.write(line);
    await pause(signal);
  }
  await following;
}

/** What came of each key in the end: the page has no use for what was in between. */
function changesIn(
  updates: readonly Update<string, Row>[],
): readonly { readonly key: string; readonly row: Row | null }[] {
  const last = new Map(updates.map(({ key, value, delete: isGone }) => [key, isGone ? null : value]));
  return Array.from(last, ([key, row]) => ({ key, row }));
}

/** Tells of one thing whenever it is another one, until the reader goes. */
export async function followValue<T>(
  tables: Tables,
  signal: AbortSignal,
  compute: (facts: Facts) => T,
  tell: (value: T) => Promise<void>,
): Promise<void> {
  let wake = (): void => {};
  const tracker = new Tracker<'value'>({ wake: () => wake() });
  let told: string | undefined;
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      try {
        const value = tracker.track('value', (read) => compute(factsOf(tables, read)));
        const text = stringifyJson(value);
        if (text !== told) await tell(value);
        told = text;
      } catch (error) {
        if (!(error instanceof NotSynced)) throw error;
      }
      await woken;
      await pause(signal);
    }
  } finally {
    tracker.close();
  }
}

/** Computes something once, when all that it reads is known. */
export async function once<T>(tables: Tables, compute: (facts: Facts) => T): Promise<T> {
  for (;;) {
    try {
      return compute(factsOf(tables, untracked));
    } catch (error) {
      if (!(error instanceof NotSynced)) throw error;
      await error.table.whenSynced();
    }
  }
}
