// A list of any length: only the rows that are seen are drawn. Rows keep their place while the pointer is over them.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../../data.ts';
import { rowKey, store } from '../live/store.ts';
import { addressOf, Link } from '../router.tsx';

/** Drawn beyond what is seen, on each side. */
const SPARE = 8;
const MARK_MS = 1_200;

export interface Column<R> {
  readonly heading: string;
  /** A class that says how wide it is. */
  readonly class: string;
  readonly cell: (row: R, now: number) => ComponentChildren;
}

interface ListProps<R extends Row> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  readonly now: number;
}

/** Rows as a table that is windowed by the page's own scrolling. */
export function List<R extends Row>({ label, rows, columns, now }: ListProps<R>): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const [isHeld, hold] = useState(false);
  const shown = useHeld(rows, isHeld);
  const rowHeight = useRowHeight();
  const { from, to } = useWindow(body, shown.length, rowHeight);
  return (
    <div class="table" role="table" aria-label={label} aria-rowcount={shown.length + 1}>
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map(({ heading, class: width }) => (
            <div key={heading} role="columnheader" class={width}>
              {heading}
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        ref={body}
        class="rows"
        data-walk
        style={{ height: `${shown.length * rowHeight}px` }}
        onPointerEnter={(event) => hold(event.pointerType === 'mouse')}
        onPointerLeave={() => hold(false)}
      >
        {shown.slice(from, to).map((row, i) => {
          const key = rowKey(row);
          const isMarked = performance.now() - (store.changedAt.get(key) ?? -Infinity) < MARK_MS;
          return (
            <div
              key={key}
              role="row"
              aria-rowindex={from + i + 2}
              class={`row ${isMarked ? 'marked' : ''}`}
              style={{ transform: `translateY(${(from + i) * rowHeight}px)`, height: `${rowHeight}px` }}
            >
              {columns.map(({ heading, class: width, cell }) => (
                <div key={heading} role="cell" class={width} data-heading={heading}>
                  {cell(row, now)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The names of rows, which lead to them, each with its problem if it has one. */
export const nameColumn = <R extends Row>(heading: string): Column<R> => ({
  heading,
  class: 'c-name',
  cell: (row) => (
    <>
      <Name row={row} />
      {row.problem !== undefined && (
        <span class="why" title={row.problem}>
          {row.problem}
        </span>
      )}
    </>
  ),
});

function Name({ row }: { readonly row: Row }): JSX.Element {
  return (
    <Link to={addressOf(row.type, row.namespace, row.name)} data-step class="row-name">
      <span class="muted">{row.namespace === '' ? '' : `${row.namespace}/`}</span>
      {row.name}
    </Link>
  );
}

/** The rows in the order in which they were when the pointer came; what is gone since then still has its place. */
function useHeld<R extends Row>(rows: readonly R[], isHeld: boolean): readonly R[] {
  const last = useRef<readonly R[]>(rows);
  if (!isHeld) {
    last.current = rows;
    return rows;
  }
  const now = new Map(rows.map((row) => [rowKey(row), row]));
  const kept = last.current.map(
    (row) => now.get(rowKey(row)) ?? { ...row, state: 'deleted', tone: 'idle' as const, problem: undefined },
  ) as readonly R[];
  const known = new Set(kept.map(rowKey));
  return [...kept, ...rows.filter((row) => !known.has(rowKey(row)))];
}

const PHONE = '(max-width: 720px)';

/** All rows of a list are as high as each other, so that the place of each is known. */
function useRowHeight(): number {
  const [isPhone, set] = useState(matchMedia(PHONE).matches);
  useEffect(() => {
    const media = matchMedia(PHONE);
    const changed = (): void => set(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return isPhone ? 144 : 56;
}

/** Which rows are seen. */
function useWindow(
  body: { readonly current: HTMLElement | null },
  count: number,
  rowHeight: number,
): { readonly from: number; readonly to: number } {
  const [seen, set] = useState({ from: 0, to: 40 });
  useLayoutEffect(() => {
    let frame: number | undefined;
    const look = (): void => {
      frame = undefined;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - SPARE);
      const to = Math.ceil((innerHeight - top) / rowHeight) + SPARE;
      set((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    const later = (): void => void (frame ??= requestAnimationFrame(look));
    look();
    addEventListener('scroll', later, { passive: true });
    addEventListener('resize', later);
    return () => {
      if (frame !== undefined) cancelAnimationFrame(frame);
      removeEventListener('scroll', later);
      removeEventListener('resize', later);
    };
  }, [body, rowHeight]);
  return { from: Math.min(seen.from, Math.max(0, count - 1)), to: Math.min(Math.max(seen.to, 1), count) };
}
