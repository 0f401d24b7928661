// Shows a text that changes: redrawn in place on a terminal, printed one after the other elsewhere.
import { stripVTControlCharacters } from 'node:util';
import { linesOn } from './lines.ts';

export interface Redrawn {
  /** Shows the current text. On a terminal it is computed again every second, as it may contain ages. */
  show(make: () => readonly string[]): void;
  /** Stops redrawing; the last output stays. */
  end(): void;
}

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write' | 'columns' | 'rows'>;

const TICK_MS = 1_000;

/** Redraws in place on a terminal, and appends elsewhere. */
export function redrawOn(stream: Stream, tickMs = TICK_MS): Redrawn {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? inPlace(stream, tickMs) : appending(stream);
}

/** Prints each changed text below the previous one, after an empty line. */
function appending(stream: Stream): Redrawn {
  const printed = linesOn(stream);
  let last: string | undefined;
  return {
    show(make) {
      const text = make().join('\n');
      if (text !== last) printed.print(`${last === undefined ? '' : '\n'}${text}\n`);
      last = text;
    },
    end: () => printed.end(),
  };
}

/** Redraws the text over the previous one. */
function inPlace(stream: Stream, tickMs: number): Redrawn {
  let timer: NodeJS.Timeout | undefined;
  let drawn = 0;
  const draw = (make: () => readonly string[]): void => {
    const columns = stream.columns || 80;
    const room = Math.max(1, (stream.rows || 24) - 1);
    const heightOf = (line: string): number => Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns));
    const lines: string[] = [];
    let height = 0;
    for (const line of make()) {
      // Lines that scroll off the top can't be redrawn.
      if (height + heightOf(line) > room) break;
      lines.push(line);
      height += heightOf(line);
    }
    const up = drawn > 0 ? `\x1b[${drawn}A` : '';
    stream.write(`${up}\r\x1b[J${lines.map((line) => `${line}\n`).join('')}`);
    drawn = height;
  };
  return {
    show(make) {
      clearInterval(timer);
      timer = setInterval(() => draw(make), tickMs).unref();
      draw(make);
    },
    end: () => clearInterval(timer),
  };
}
