// A list of any length: only visible rows are rendered. Rows keep their position while the pointer is over the list.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Row } from '../../data.ts';
import { rowKey, store } from '../live/store.ts';
import { addressOf, Link } from '../router.tsx';

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 8;
const MARK_MS = 1_200;

export interface Column<R> {
  readonly heading: string;
  /** A CSS class that sets the width. */
  readonly class: string;
  readonly cell: (row: R, now: number) => ComponentChildren;
}

interface ListProps<R extends Row> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  readonly now: number;
}

/** A table that is virtualised by the page's scroll position. */
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

/** A column with links to the objects, and their problems. */
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

/** The rows in the order of when the pointer entered; rows deleted since then keep their position. */
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

/** All rows have the same height, so that positions can be computed. */
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

/** The range of visible rows. */
function useWindow(
  body: { readonly current: HTMLElement | null },
  count: number,
  rowHeight: number,
): { readonly from: number; readonly to: number } {
  const [seen, set] = useState({ from: 0, to: 40 });
  useLayoutEffect(() => {
    let frame: number | undefined;
    const measure = (): void => {
      frame = undefined;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - OVERSCAN);
      const to = Math.ceil((innerHeight - top) / rowHeight) + OVERSCAN;
      set((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    const later = (): void => void (frame ??= requestAnimationFrame(measure));
    measure();
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
