// Which derived map is computed from which, and the stack of running computations, by which cycles are detected.
import { CycleError } from '../errors.ts';
import type { Reader } from '../reads/subject.ts';
import { anyLags, lags, settle } from '../reads/turn.ts';

/** A running computation. */
interface Frame {
  readonly of: { readonly label: string };
  readonly owner: Derivation;
  readonly reader?: Reader;
}

/** The stack of running computations; the innermost comes last. */
const frames: Frame[] = [];

/** A map that is computed from others. */
export abstract class Derivation {
  readonly #upstream = new Set<Derivation>();

  /** Whether a map that this one was ever computed from has lists that are out of date. */
  isBehindOthers(): boolean {
    return anyLags() && this.#isBelowLag(new Set([this]));
  }

  /** Must be called before each read. Afterwards everything that it depends on is up to date, or known not to be. */
  protected enter(): void {
    const reader = frames.at(-1)?.owner;
    if (reader === undefined) settle();
    else reader.#upstream.add(this);
  }

  #isBelowLag(seen: Set<Derivation>): boolean {
    for (const map of this.#upstream) {
      if (seen.has(map)) continue;
      seen.add(map);
      if (lags(map) || map.#isBelowLag(seen)) return true;
    }
    return false;
  }
}

/** Runs a computation with its frame on the stack, so that a cycle back to it is detected. */
export function within<T>(frame: Frame, compute: () => T): T {
  frames.push(frame);
  try {
    return compute();
  } finally {
    frames.pop();
  }
}

/** The error for reading a value while it is being computed. */
export function cycleThrough(of: unknown): CycleError {
  const start = frames.findIndex((frame) => frame.of === of);
  const cycle = frames.slice(start);
  // The computation that gets the error depends on everything that led here, but not on those that wait for it.
  const innermost = frames.at(-1)?.reader;
  for (const { reader } of cycle) {
    if (reader === innermost) continue;
    for (const subject of reader?.reading ?? []) innermost?.add(subject);
  }
  return new CycleError([...cycle, cycle[0]!].map((frame) => frame.of.label));
}
