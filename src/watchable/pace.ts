// Keeps promise reactions from starving timers and sockets. Streams deliver in microtasks for speed; components that
// feed each other that way would never let the event loop turn. So the whole process shares one allowance of
// deliveries per turn of the event loop; once it is spent, deliveries wait for the next turn.
import { setImmediate } from 'node:timers';

const ALLOWANCE = 64;
/** The allowance is renewed once this little is left, not in every turn: that would cost more than a delivery. */
const RENEWED_BELOW = 32;

/** A delivery that has to wait for the next turn. */
interface Deferred {
  deliver(): void;
}

const waiting = new Set<Deferred>();
let left = ALLOWANCE;
let armed = false;

/** Whether a delivery may happen now; if not, `defer` it. */
export function mayDeliver(): boolean {
  return left > 0;
}

/** Takes one delivery from the allowance. */
export function spend(): void {
  if (--left < RENEWED_BELOW) arm();
}

/** Calls `deliver` in the next turn of the event loop that has allowance left for it. */
export function defer(deferred: Deferred): void {
  waiting.add(deferred);
  arm();
}

/** Takes one delivery from the allowance, after waiting for the next turn if it is spent. */
export function takeTurn(): Promise<void> | undefined {
  if (left > 0) {
    spend();
    return undefined;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const deliver = (): void => {
    spend();
    resolve();
  };
  defer({ deliver });
  return promise;
}

function arm(): void {
  if (armed) return;
  armed = true;
  setImmediate(turn);
}

function turn(): void {
  armed = false;
  left = ALLOWANCE;
  for (const deferred of waiting) {
    if (left === 0) break;
    waiting.delete(deferred);
    deferred.deliver();
  }
  if (waiting.size > 0) arm();
}
