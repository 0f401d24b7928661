import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Turns } from './fairness.ts';

const never = new AbortController().signal;

/** Starts an entry and notes its label when it gets in. */
function enter(turns: Turns, flow: string, label: string, log: string[], signal = never): Promise<() => void> {
  return turns.enter(flow, signal).then((leave) => {
    log.push(label);
    return leave;
  });
}

test('a quiet flow is next, however many requests a noisy one has waiting', async () => {
  const turns = new Turns(1);
  const log: string[] = [];
  const first = await turns.enter('noisy', never);
  const noisy = Array.from({ length: 100 }, (_, index) => enter(turns, 'noisy', `noisy ${index}`, log));
  const quiet = [enter(turns, 'quiet', 'quiet 0', log), enter(turns, 'quiet', 'quiet 1', log)];
  first();
  (await noisy[0]!)();
  (await quiet[0]!)();
  (await noisy[1]!)();
  (await quiet[1]!)();
  await noisy[2]!;
  expect(log).toEqual(['noisy 0', 'quiet 0', 'noisy 1', 'quiet 1', 'noisy 2']);
});

test('one that gives up leaves the line, and its place goes to the next', async () => {
  const turns = new Turns(1);
  const log: string[] = [];
  const leave = await turns.enter('a', never);
  const impatient = new AbortController();
  const gone = enter(turns, 'a', 'gone', log, impatient.signal);
  const next = enter(turns, 'a', 'next', log);
  impatient.abort(new Error('enough'));
  await expect(gone).rejects.toThrow('enough');
  leave();
  await next;
  expect(log).toEqual(['next']);
});

test('a signal that has fired already takes no place', async () => {
  const turns = new Turns(1);
  await expect(turns.enter('a', AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  await expect(turns.enter('a', never)).resolves.toBeTypeOf('function');
});

test('giving a place back twice frees it once', async () => {
  const turns = new Turns(1);
  const leave = await turns.enter('a', never);
  leave();
  leave();
  await turns.enter('a', never);
  let entered = false;
  void turns.enter('a', never).then(() => (entered = true));
  await new Promise(setImmediate);
  expect(entered).toBe(false);
});

test('never more than the limit at once, and everyone gets in', async () => {
  const requests = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), requests, async (limit, flows) => {
      const turns = new Turns(limit);
      let inside = 0;
      let most = 0;
      const done = flows.map(async (flow) => {
        const leave = await turns.enter(flow, never);
        most = Math.max(most, ++inside);
        await Promise.resolve();
        inside--;
        leave();
      });
      await Promise.all(done);
      expect(most).toBe(Math.min(limit, flows.length));
    }),
  );
});

test.each([0, -1, 1.5, Number.NaN])('a limit of %d is refused', (limit) => {
  expect(() => new Turns(limit)).toThrow(/at least 1, found/);
});
