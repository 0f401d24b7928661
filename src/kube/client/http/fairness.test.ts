import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairSemaphore } from './fairness.ts';

const never = new AbortController().signal;

/** Waits for a slot and logs the label when it has one. */
function acquire(
  semaphore: FairSemaphore,
  flow: string,
  label: string,
  log: string[],
  signal = never,
): Promise<() => void> {
  return semaphore.acquire(flow, signal).then((release) => {
    log.push(label);
    return release;
  });
}

test('a quiet flow is served next, however many requests a noisy one has waiting', async () => {
  const semaphore = new FairSemaphore(1);
  const log: string[] = [];
  const first = await semaphore.acquire('noisy', never);
  const noisy = Array.from({ length: 100 }, (_, index) => acquire(semaphore, 'noisy', `noisy ${index}`, log));
  const quiet = [acquire(semaphore, 'quiet', 'quiet 0', log), acquire(semaphore, 'quiet', 'quiet 1', log)];
  first();
  (await noisy[0]!)();
  (await quiet[0]!)();
  (await noisy[1]!)();
  (await quiet[1]!)();
  await noisy[2]!;
  expect(log).toEqual(['noisy 0', 'quiet 0', 'noisy 1', 'quiet 1', 'noisy 2']);
});

test('an aborted request leaves the queue, and its slot goes to the next', async () => {
  const semaphore = new FairSemaphore(1);
  const log: string[] = [];
  const release = await semaphore.acquire('a', never);
  const impatient = new AbortController();
  const gone = acquire(semaphore, 'a', 'gone', log, impatient.signal);
  const next = acquire(semaphore, 'a', 'next', log);
  impatient.abort(new Error('enough'));
  await expect(gone).rejects.toThrow('enough');
  release();
  await next;
  expect(log).toEqual(['next']);
});

test('a request whose signal is already aborted takes no slot', async () => {
  const semaphore = new FairSemaphore(1);
  await expect(semaphore.acquire('a', AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  await expect(semaphore.acquire('a', never)).resolves.toBeTypeOf('function');
});

test('releasing a slot twice frees it once', async () => {
  const semaphore = new FairSemaphore(1);
  const release = await semaphore.acquire('a', never);
  release();
  release();
  await semaphore.acquire('a', never);
  let acquired = false;
  void semaphore.acquire('a', never).then(() => (acquired = true));
  await new Promise(setImmediate);
  expect(acquired).toBe(false);
});

test('there are never more requests than the limit, and all are served', async () => {
  const requests = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), requests, async (limit, flows) => {
      const semaphore = new FairSemaphore(limit);
      let inside = 0;
      let most = 0;
      const done = flows.map(async (flow) => {
        const release = await semaphore.acquire(flow, never);
        most = Math.max(most, ++inside);
        await Promise.resolve();
        inside--;
        release();
      });
      await Promise.all(done);
      expect(most).toBe(Math.min(limit, flows.length));
    }),
  );
});

test.each([0, -1, 1.5, Number.NaN])('a limit of %d is rejected', (limit) => {
  expect(() => new FairSemaphore(limit)).toThrow(/at least 1, found/);
});
