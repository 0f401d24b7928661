// Tables as kubectl prints them: capital headings, columns as wide as their widest cell, three spaces between.
import type { Paint } from './colour.ts';
import { toneOf, unpainted } from './colour.ts';

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
  /** Whether the column shows states, which are coloured. */
  readonly state?: boolean;
}

export interface TableOptions {
  readonly paint?: Paint;
  /** Whether the headings are printed. */
  readonly headings?: boolean;
}

const GAP = 3;
const EMPTY = '<none>';

/** Prints rows as they come: later rows keep the column widths of the first ones. */
export class TablePrinter<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #paint: Paint;
  readonly #headings: boolean;
  #widths: readonly number[] | undefined;

  constructor(columns: readonly Column<Row>[], { paint = unpainted, headings = true }: TableOptions = {}) {
    this.#columns = columns;
    this.#paint = paint;
    this.#headings = headings;
  }

  /** The lines for rows; the first call also returns the headings. */
  lines(rows: readonly Row[]): string[] {
    const cells = rows.map((row) => this.#columns.map(({ cell }) => oneLine(cell(row))));
    const first = this.#widths === undefined;
    this.#widths ??= this.#columns.map(({ heading }, i) =>
      Math.max(this.#headings ? displayWidth(heading) : 0, ...cells.map((row) => displayWidth(row[i]!))),
    );
    const headings = first && this.#headings ? [this.#line(this.#columns.map(({ heading }) => heading))] : [];
    return [...headings, ...cells.map((row) => this.#line(row, true))];
  }

  #line(cells: readonly string[], paint = false): string {
    const last = cells.length - 1;
    return cells
      .map((cell, i) => {
        const shown = paint && this.#columns[i]!.state ? this.#paint(toneOf(cell), cell) : cell;
        if (i === last) return shown;
        const padding = Math.max(GAP, this.#widths![i]! - displayWidth(cell) + GAP);
        return shown + ' '.repeat(padding);
      })
      .join('');
  }
}

function oneLine(text: string): string {
  return text === '' ? EMPTY : text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}

/** The width of a text in a terminal: two columns for wide characters. */
function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}/u.test(
      segment,
    )
      ? 2
      : 1;
  }
  return width;
}

/** The age of a timestamp, in the format of kubectl. */
export function age(since: string | undefined, now: number): string {
  const start = Date.parse(since ?? '');
  return Number.isNaN(start) ? '<unknown>' : humanDuration(now - start);
}

/** The time until a timestamp; empty if there is none. */
export function timeLeft(until: string | undefined, now: number): string {
  const end = Date.parse(until ?? '');
  if (Number.isNaN(end)) return '';
  return end <= now ? 'now' : `in ${humanDuration(end - now)}`;
}

/** A duration in its one or two largest units. */
function humanDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const both = (big: number, unit: string, rest: number, small: string): string =>
    `${big}${unit}${rest > 0 ? `${rest}${small}` : ''}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return both(Math.floor(days / 365), 'y', days % 365, 'd');
}
