// Shows progress step by step: lines that are redrawn in place on a terminal, and one plain line per change elsewhere.
// Everything goes to standard error, so that results can be piped.
import type { ProgressStep } from '../../api/description/tree.ts';
import { painter } from './colour.ts';
import type { Paint, Tone } from './colour.ts';

export interface Progress {
  /** Shows the current state of all steps. */
  show(steps: readonly ProgressStep[]): void;
  /** Stops redrawing; the last output stays. */
  end(): void;
}

const SYMBOLS = { waiting: '·', done: '✓', failed: '✗' } as const;
const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const TONES: Readonly<Record<ProgressStep['state'], Tone>> = {
  waiting: 'quiet',
  working: 'busy',
  done: 'good',
  failed: 'bad',
};
const FRAME_MS = 100;

/** Live progress on a terminal, plain progress elsewhere. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY && process.env['TERM'] !== 'dumb' ? new LiveProgress(stream) : plainProgress(stream);
}

/** Prints a line whenever a step changes. */
export function plainProgress(stream: Pick<NodeJS.WritableStream, 'write'>): Progress {
  const shown = new Map<string, string>();
  return {
    show(steps) {
      for (const { label, note } of steps) {
        if (shown.get(label) === note) continue;
        shown.set(label, note);
        stream.write(`${label}: ${note}\n`);
      }
    },
    end() {},
  };
}

/**
 * Lines for a terminal. `frame` animates the spinner; lines are cut to the terminal's width, so that they can be
 * redrawn.
 */
export function progressLines(steps: readonly ProgressStep[], frame: number, columns: number, paint: Paint): string[] {
  const width = Math.max(0, ...steps.map(({ label }) => label.length));
  return steps.map(({ label, state, note }) => {
    const symbol = state === 'working' ? SPINNER[frame % SPINNER.length]! : SYMBOLS[state];
    const text = `${label.padEnd(width)}  ${note}`.slice(0, Math.max(0, columns - 3));
    return `${paint(TONES[state], symbol)} ${text}`;
  });
}

class LiveProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #paint: Paint;
  #steps: readonly ProgressStep[] = [];
  #drawn = 0;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#paint = painter(stream);
  }

  show(steps: readonly ProgressStep[]): void {
    this.#steps = steps;
    this.#timer ??= setInterval(() => {
      this.#frame++;
      this.#draw();
    }, FRAME_MS).unref();
    this.#draw();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #draw(): void {
    // Lines that scroll off the top can't be redrawn, so show only as many as fit.
    const lines = progressLines(this.#steps, this.#frame, this.#stream.columns || 80, this.#paint);
    const room = Math.max(1, (this.#stream.rows || 24) - 1);
    const shown = lines.slice(0, room);
    const up = this.#drawn > 0 ? `\x1b[${this.#drawn}A` : '';
    this.#stream.write(`${up}\r\x1b[J${shown.join('\n')}\n`);
    this.#drawn = shown.length;
  }
}
