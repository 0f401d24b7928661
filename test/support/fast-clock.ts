// Real time, sped up: for tests that wait for production timeouts of half a minute.
import { systemClock } from '../../src/kube/clock.ts';
import type { Clock } from '../../src/kube/clock.ts';

/** A clock that runs `factor` times as fast as the system's. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * factor,
    setTimeout: (run, ms, options) => systemClock.setTimeout(run, ms / factor, options),
  };
}
