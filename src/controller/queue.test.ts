import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { PRIORITY, Queue } from './queue.ts';

function make(options: { baseDelayMs?: number; maxDelayMs?: number } = {}): { queue: Queue; clock: FakeClock } {
  const clock = new FakeClock();
  return { queue: new Queue({ clock, ...options }), clock };
}

/** Takes and finishes all ready keys, in order. */
async function drain(queue: Queue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.size > 0) {
    const key = (await queue.take())!;
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

describe('the queue', () => {
  test('returns keys first in, first out, each once', async () => {
    const { queue } = make();
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(await drain(queue)).toEqual(['a', 'b', 'c']);
  });

  test('returns a change before a resync; the higher of two priorities wins', async () => {
    const { queue } = make();
    queue.add('old-1', PRIORITY.resync);
    queue.add('old-2', PRIORITY.resync);
    queue.add('new', PRIORITY.change);
    queue.add('old-2', PRIORITY.change);
    queue.add('new', PRIORITY.resync);
    expect(await drain(queue)).toEqual(['new', 'old-2', 'old-1']);
  });
});

test('retries of all keys together are limited, however small the backoff of each', () => {
  const clock = new FakeClock();
  const queue = new Queue({ clock, baseDelayMs: 1, retryLimit: { burst: 2, perSecond: 10 } });
  expect(['a', 'b', 'c', 'd'].map((key) => queue.retry(key))).toEqual([1, 1, 100, 200]);
});

test('a paused key runs once after its pause, however often and however it was added', async () => {
  const { queue, clock } = make();
  queue.add('a');
  const key = (await queue.take())!;
  queue.add('a');
  queue.pause('a', 100);
  queue.done(key);
  queue.add('a');
  queue.addAfter('a', 10);
  queue.add('b');
  expect(await drain(queue)).toEqual(['b']);
  await clock.advance(99);
  expect(await drain(queue)).toEqual([]);
  await clock.advance(1);
  expect(await drain(queue)).toEqual(['a']);
  queue.add('a');
  expect(await drain(queue)).toEqual(['a']);
});

describe('a running key', () => {
  test('runs exactly once more after any number of adds', async () => {
    const { queue } = make();
    queue.add('a');
    expect(await queue.take()).toBe('a');
    for (let i = 0; i < 5; i++) queue.add('a');
    expect(queue.size).toBe(0);
    queue.done('a');
    expect(await drain(queue)).toEqual(['a']);
  });

  test('does not block the keys behind it', async () => {
    const { queue } = make();
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('b');
    expect(await queue.take()).toBe('b');
  });

  test('never runs twice at once, and no key is lost, for any interleaving', async () => {
    const action = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({
        do: fc.constant('after' as const),
        key: fc.constantFrom('a', 'b', 'c'),
        ms: fc.integer({ min: 0, max: 50 }),
      }),
      fc.record({ do: fc.constant('take' as const) }),
      fc.record({ do: fc.constant('done' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 60 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const { queue, clock } = make();
        const running = new Set<string>();
        const owed = new Set<string>();
        const take = async (): Promise<void> => {
          const key = (await queue.take())!;
          expect(running.has(key)).toBe(false);
          running.add(key);
          owed.delete(key);
        };
        for (const step of actions) {
          if (step.do === 'add') {
            queue.add(step.key);
            owed.add(step.key);
          } else if (step.do === 'after') {
            queue.addAfter(step.key, step.ms);
            owed.add(step.key);
          } else if (step.do === 'take') {
            if (queue.size > 0) await take();
          } else if (step.do === 'done') {
            if (running.delete(step.key)) queue.done(step.key);
          } else {
            await clock.advance(step.ms);
          }
        }
        for (const key of running) queue.done(key);
        running.clear();
        await clock.advance(1000);
        while (queue.size > 0) {
          await take();
          for (const key of running) queue.done(key);
          running.clear();
        }
        expect([...owed]).toEqual([]);
      }),
    );
  });
});

describe('a delayed key', () => {
  test('becomes ready at the earlier of two times, whichever was set first', async () => {
    const { queue, clock } = make();
    queue.addAfter('a', 100);
    queue.addAfter('a', 50);
    queue.addAfter('a', 200);
    await clock.advance(49);
    expect(queue.size).toBe(0);
    await clock.advance(1);
    expect(await drain(queue)).toEqual(['a']);
    await clock.advance(1000);
    expect(queue.size).toBe(0);
  });

  test('becomes ready at once by an add, and a ready key is not delayed', async () => {
    const { queue, clock } = make();
    queue.add('a');
    queue.addAfter('a', 100);
    queue.addAfter('b', 100);
    queue.add('b');
    expect(await drain(queue)).toEqual(['a', 'b']);
    await clock.advance(1000);
    expect(queue.size).toBe(0);
  });

  test('is returned in the order of its time', async () => {
    const { queue, clock } = make();
    for (const [key, ms] of [
      ['c', 30],
      ['a', 10],
      ['d', 40],
      ['b', 20],
    ] as const)
      queue.addAfter(key, ms);
    await clock.advance(100);
    expect(await drain(queue)).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the backoff', () => {
  test('starts at 5 ms and doubles with each failure up to the cap; forget resets it', () => {
    const { queue } = make();
    const delays = Array.from({ length: 14 }, () => queue.retry('a'));
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_240, 15_000, 15_000]);
    expect(queue.failures('a')).toBe(14);
    queue.forget('a');
    expect(queue.retry('a')).toBe(5);
    expect(queue.retry('b')).toBe(5);
  });

  test('stays at the cap after thousands of failures', () => {
    const { queue } = make({ maxDelayMs: 1000 });
    for (let i = 0; i < 5000; i++) queue.retry('a');
    expect(queue.retry('a')).toBe(1000);
  });
});

describe('waiting workers', () => {
  test('are served in order, one key each', async () => {
    const { queue } = make();
    const first = queue.take();
    const second = queue.take();
    queue.add('a');
    queue.add('b');
    expect(await Promise.all([first, second])).toEqual(['a', 'b']);
  });

  test('get undefined when the queue is closed, and later adds do nothing', async () => {
    const { queue, clock } = make();
    const waiting = queue.take();
    queue.addAfter('late', 10);
    queue.close();
    expect(await waiting).toBeUndefined();
    queue.add('a');
    await clock.advance(100);
    expect(queue.size).toBe(0);
    expect(await queue.take()).toBeUndefined();
  });
});

test('the queue reports its metrics', async () => {
  const seen: string[] = [];
  const clock = new FakeClock();
  const queue = new Queue({
    clock,
    metrics: {
      added: () => seen.push('added'),
      retried: () => seen.push('retried'),
      depth: (size) => seen.push(`depth ${size}`),
      started: (ms) => seen.push(`started after ${ms}`),
      finished: (ms) => seen.push(`finished after ${ms}`),
    },
  });
  queue.add('a');
  queue.add('a');
  await clock.advance(7);
  await queue.take();
  await clock.advance(3);
  queue.retry('a');
  queue.done('a');
  expect(seen).toEqual(['added', 'depth 1', 'started after 7', 'depth 0', 'retried', 'finished after 3']);
});

test('retryNow makes a failed key that is running be retried soon if it fails again, and only then', async () => {
  const { queue, clock } = make({ baseDelayMs: 10_000, maxDelayMs: 15_000 });
  queue.add('a');
  const fails = async (before = (): void => {}): Promise<number> => {
    await queue.take();
    before();
    const delayMs = queue.retry('a');
    queue.done('a');
    await clock.advance(delayMs);
    return delayMs;
  };
  expect([await fails(), await fails(() => queue.retryNow()), await fails()]).toEqual([10_000, 1_000, 15_000]);
});

test('retryNow runs failed keys at once; keys that are delayed for another reason keep waiting', async () => {
  const { queue } = make({ baseDelayMs: 10_000 });
  for (const key of ['failed', 'well']) queue.add(key);
  await queue.take();
  queue.retry('failed');
  queue.done('failed');
  await queue.take();
  queue.addAfter('well', 10_000);
  queue.done('well');
  expect([queue.size, queue.delayed]).toEqual([0, 2]);
  queue.retryNow();
  expect(await drain(queue)).toEqual(['failed']);
  expect(queue.delayed).toBe(1);
  expect(queue.failures('failed')).toBe(0);
});
