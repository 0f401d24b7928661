// Prints lines for a reader that may close the pipe early, as `head` does.

/** Long enough for a reader to close the pipe, and hardly noticeable otherwise. */
const DELAY_MS = 200;

export interface Lines {
  /** Prints whole lines. */
  print(text: string): void;
  /** Prints the delayed newline. */
  end(): void;
}

/**
 * Prints lines on a stream as they come. Only a write detects that the reader has closed the pipe, as Node can't poll
 * it; so the last newline is written after a delay. `head -1` of a watch then ends the command at once, and not with
 * the next change, which may be tomorrow.
 */
export function linesOn(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, delayMs = DELAY_MS): Lines {
  if (stream.isTTY) return { print: (text) => void stream.write(text), end: () => {} };
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    if (timer !== undefined) stream.write('\n');
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    print(text) {
      if (text === '') return;
      end();
      stream.write(text.replace(/\n$/, ''));
      timer = setTimeout(end, delayMs);
    },
    end,
  };
}
