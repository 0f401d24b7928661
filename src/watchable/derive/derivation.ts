// What computes what: maps that are computed from others, and the computations under way, in which a cycle shows.
import { CycleError } from '../errors.ts';
import type { Reader } from '../reads/subject.ts';
import { anyLags, lags, settle } from '../reads/turn.ts';

/** A computation under way. */
interface Frame {
  readonly of: { readonly label: string };
  readonly owner: Derivation;
  readonly reader?: Reader;
}

/** The innermost one comes last. */
const frames: Frame[] = [];

/** A map that is computed from others. */
export abstract class Derivation {
  readonly #upstream = new Set<Derivation>();

  /** Whether a map that this one was ever computed from has lists to bring up to date. */
  isBehindOthers(): boolean {
    return anyLags() && this.#isBelowLag(new Set([this]));
  }

  /** To be called before it is read: everything that it depends on is then up to date, or known not to be. */
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

/** Runs a computation, so that one that leads back to it is recognised. */
export function within<T>(frame: Frame, compute: () => T): T {
  frames.push(frame);
  try {
    return compute();
  } finally {
    frames.pop();
  }
}

/** The error for something that was asked for while it is being computed. */
export function cycleThrough(of: unknown): CycleError {
  const start = frames.findIndex((frame) => frame.of === of);
  const way = frames.slice(start);
  // Whoever gets the error depends on everything that led here, but not on what waits for it.
  const innermost = frames.at(-1)?.reader;
  for (const { reader } of way) {
    if (reader === innermost) continue;
    for (const subject of reader?.reading ?? []) innermost?.add(subject);
  }
  return new CycleError([...way, way[0]!].map((frame) => frame.of.label));
}
