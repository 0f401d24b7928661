import { describe, expect, it } from 'vitest';
import { handleSubscription, WatchableMap } from './index.ts';
import type { Snapshot } from './index.ts';
import { read } from './testing/streams.ts';

type Numbers = WatchableMap<string, number>;

// Two maps feed each other until a timer has fired; gives up after so many hops that the timer was clearly starved.
async function pingPong(
  pump: (from: Numbers, onUpdate: (value: number) => void) => Promise<void>,
): Promise<{ fired: boolean; hops: number }> {
  const [left, right]: Numbers[] = [new WatchableMap(), new WatchableMap()];
  let hops = 0;
  let fired = false;
  const timer = setTimeout(() => {
    fired = true;
  }, 5);
  const forward =
    (to: Numbers) =>
    (value: number): void => {
      hops++;
      if (fired || hops > 2_000_000) {
        left!.close();
        right!.close();
      } else to.store('ball', value + 1);
    };
  const pumps = [pump(left!, forward(right!)), pump(right!, forward(left!))];
  left!.store('ball', 0);
  await Promise.all(pumps);
  clearTimeout(timer);
  return { fired, hops };
}

describe('the starvation guard', () => {
  it('lets a timer fire while two maps feed each other through loops', async () => {
    const { fired, hops } = await pingPong(async (from, onUpdate) => {
      for await (const { updates } of from.subscribe()) for (const { value } of updates) onUpdate(value);
    });
    expect(fired).toBe(true);
    expect(hops).toBeGreaterThan(64);
  });

  it('lets a timer fire while two maps feed each other through handlers', async () => {
    const { fired } = await pingPong((from, onUpdate) =>
      handleSubscription(from.subscribe(), ({ value }) => onUpdate(value), { runner: 'pump', message: 'ball' }),
    );
    expect(fired).toBe(true);
  });

  it('lets the event loop turn during a long replay through a fast handler', async () => {
    const map: Numbers = new WatchableMap();
    for (let index = 0; index < 1_000; index++) map.store(`k${index}`, index);
    let calls = 0;
    let callsAtTurn: number | undefined;
    setImmediate(() => (callsAtTurn = calls));
    const handler = (): void => {
      if (++calls === 1_000) map.close();
    };
    await handleSubscription(map.subscribe(), handler, { runner: 'replay', message: 'numbers' });
    expect(calls).toBe(1_000);
    expect(callsAtTurn).toBeLessThan(200);
  });

  it('delivers to a thousand parked readers, each exactly once', async () => {
    const map: Numbers = new WatchableMap();
    const subscriptions = Array.from({ length: 1_000 }, () => map.subscribe());
    await Promise.all(subscriptions.map(read<Snapshot<string, number>>));
    const parked = subscriptions.map(read<Snapshot<string, number>>);
    map.store('a', 1);
    const delivered = await Promise.all(parked);
    expect(delivered.every(({ updates }) => updates.length === 1)).toBe(true);
    map.close();
  });

  it('drops a deferred delivery when the subscription ends first', async () => {
    const map: Numbers = new WatchableMap();
    const subscriptions = Array.from({ length: 200 }, () => map.subscribe());
    const reads = subscriptions.map((subscription) => subscription.next());
    map.close();
    const ended = (await Promise.all(reads)).filter((step) => step.done === true);
    expect(ended.length).toBeGreaterThanOrEqual(136);
  });
});
