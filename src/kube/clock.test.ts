import { describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { delay, systemClock } from './clock.ts';

describe('systemClock', () => {
  it('waits for a delay that is longer than a Node timer supports', () => {
    vi.useFakeTimers();
    try {
      let fired = 0;
      const days = 24 * 60 * 60 * 1000;
      systemClock.setTimeout(() => fired++, 30 * days);
      vi.advanceTimersByTime(29 * days);
      expect(fired).toBe(0);
      vi.advanceTimersByTime(2 * days);
      expect(fired).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('cancels a long delay in any of its pieces', () => {
    vi.useFakeTimers();
    try {
      let fired = 0;
      const timer = systemClock.setTimeout(() => fired++, 2 ** 31 + 1000);
      vi.advanceTimersByTime(2 ** 31);
      timer.cancel();
      vi.advanceTimersByTime(10_000);
      expect(fired).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('delay', () => {
  it('ends at its time', async () => {
    const clock = new FakeClock();
    let done = false;
    void delay(clock, 1000).then(() => (done = true));
    await clock.advance(999);
    expect(done).toBe(false);
    await clock.advance(1);
    expect(done).toBe(true);
  });

  it('ends early and leaves no timer behind when aborted', async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const waiting = delay(clock, 1000, abort.signal);
    abort.abort();
    await waiting;
    expect(clock.pending).toBe(0);
    await delay(clock, 1000, abort.signal);
    expect(clock.pending).toBe(0);
  });
});
