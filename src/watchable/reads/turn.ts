// The work that follows changes: bring lists of derived maps up to date, notify readers, drop values without readers.
// It is done once for all changes of a synchronous run; a read in between brings the lists up to date at once.
import { defer, mayDeliver, spend } from '../pace.ts';

/** A map that keeps lists of computed values. */
export interface Lagging {
  /** Whether it reads a map that lags itself. */
  isBehindOthers(): boolean;
  flush(): void;
}

/** A reader that may have to be notified. */
export interface Listener {
  deliver(): void;
}

/** Something that is kept only while it has readers. */
export interface Droppable {
  dropIfUnread(): void;
}

const lagging = new Set<Lagging>();
const listeners = new Set<Listener>();
const unread = new Set<Droppable>();
let epoch = 0;
let isArmed = false;

/** Grows whenever a map begins to lag: values checked before that may be out of date. */
export function lagEpoch(): number {
  return epoch;
}

export function anyLags(): boolean {
  return lagging.size > 0;
}

export function lags(map: object): boolean {
  return lagging.has(map as Lagging);
}

/** Records that the lists of a map are out of date. */
export function startLagging(map: Lagging): void {
  if (lagging.has(map)) return;
  lagging.add(map);
  epoch++;
  arm();
}

export function stopLagging(map: Lagging): void {
  lagging.delete(map);
}

/** Brings all lists up to date, starting with those that others are computed from. */
export function settle(): void {
  for (;;) {
    let next: Lagging | undefined;
    for (const map of lagging) {
      next ??= map;
      if (lagging.size === 1 || map.isBehindOthers()) continue;
      next = map;
      break;
    }
    if (next === undefined) return;
    next.flush();
  }
}

export function notifyLater(listener: Listener): void {
  listeners.add(listener);
  arm();
}

export function dropLater(droppable: Droppable): void {
  unread.add(droppable);
  arm();
}

/** Notifies listeners now instead of after the synchronous run. */
export function notifyNow(): void {
  settle();
  let failure: { readonly error: unknown } | undefined;
  for (const listener of listeners) {
    listeners.delete(listener);
    try {
      listener.deliver();
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
}

function arm(): void {
  if (isArmed) return;
  isArmed = true;
  queueMicrotask(deliver);
}

function deliver(): void {
  if (!mayDeliver()) {
    defer({ deliver });
    return;
  }
  spend();
  isArmed = false;
  try {
    notifyNow();
  } finally {
    for (const droppable of unread) {
      unread.delete(droppable);
      droppable.dropIfUnread();
    }
  }
}
