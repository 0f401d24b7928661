// Lines for a reader that may leave when it has seen enough, as `head` does.

/** Long enough for a reader to leave, and hardly noticed by one that stays. */
const HELD_BACK_MS = 200;

export interface Lines {
  /** Prints whole lines. */
  print(text: string): void;
  /** Prints what was held back. */
  end(): void;
}

/**
 * Prints lines on a stream as they come. Only a write tells that the reader of a pipe has left, for Node can't poll one;
 * so the end of the last line is written a little later. Who took `head -1` of a watch gets the prompt back then, and
 * not with the next change, which may be tomorrow.
 */
export function linesOn(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, heldBackMs = HELD_BACK_MS): Lines {
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
      timer = setTimeout(end, heldBackMs);
    },
    end,
  };
}
