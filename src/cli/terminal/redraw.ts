// Shows a text that changes: drawn again in place on a terminal, and one after the other anywhere else.
import { stripVTControlCharacters } from 'node:util';
import { linesOn } from './lines.ts';

export interface Redrawn {
  /** Shows the text as it is now. On a terminal it is made again every second, for what it says of time. */
  show(make: () => readonly string[]): void;
  /** Leaves what was shown last. */
  end(): void;
}

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'write' | 'columns' | 'rows'>;

const TICK_MS = 1_000;

/** A text that changes on a stream, in the form that suits it. */
export function redrawOn(stream: Stream, tickMs = TICK_MS): Redrawn {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? inPlace(stream, tickMs) : inTurn(stream);
}

/** Each text under the one before it, with an empty line between, if it differs from that. */
function inTurn(stream: Stream): Redrawn {
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

/** The text over the one before it. */
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
      // What scrolls off the top can't be drawn again.
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
