import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveAsync, Tracker, WatchableMap } from '../index.ts';
import type { Computed, Read, RetryClock } from '../index.ts';

/** A fake clock that stands still until the test advances it. */
class FakeClock implements RetryClock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  get waiting(): number {
    return this.#timers.size;
  }

  setTimeout(run: () => void, ms: number): { cancel(): void } {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }
}

interface Run {
  readonly input: string;
  readonly signal: AbortSignal;
  readonly settle: PromiseWithResolvers<string>;
}

const RETRY = { initialMs: 100, maxMs: 400 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Charts that a slow program renders; the test decides how each run ends. */
function world() {
  const charts = new WatchableMap<string, { text: string; note?: string }>({ name: 'charts' });
  const clock = new FakeClock();
  const runs: Run[] = [];
  const render = (input: string, { signal }: { signal: AbortSignal }): Promise<string> => {
    const settle = Promise.withResolvers<string>();
    runs.push({ input, signal, settle });
    return settle.promise;
  };
  const text = (read: Read, key: string): string | undefined => {
    const found = read.get(charts, key)?.text;
    if (found === 'broken') throw new Error('the chart is broken');
    return found;
  };
  const options = { retry: RETRY, clock };
  const rendered = deriveAsync('rendered', text, render, options);
  const all = deriveAsync('all', text, render, {
    ...options,
    keys: charts,
    indexes: { state: ({ state }: Computed<string>) => [state] },
  });
  let count = 0;
  const tracker = new Tracker<string>({ wake: () => count++ });
  const follow = (): Computed<string> | undefined => tracker.track('reader', (read) => read.get(rendered, 'web'));
  const woken = (): number => {
    tracker.deliver();
    return count;
  };
  return { charts, clock, runs, rendered, all, tracker, follow, woken };
}

describe('an asynchronous value', () => {
  it('is pending, then ready, and wakes its readers', async () => {
    const { charts, runs, follow, woken } = world();
    expect(follow()).toBeUndefined();
    charts.store('web', { text: 'v1' });
    expect(woken()).toBe(1);
    expect(follow()).toEqual({ state: 'pending' });
    await turn();
    expect(runs.map(({ input }) => input)).toEqual(['v1']);
    runs[0]!.settle.resolve('manifests of v1');
    await turn();
    expect(woken()).toBe(2);
    expect(follow()).toEqual({ state: 'ready', value: 'manifests of v1' });
  });

  it('is cancelled and restarted when its input changes, and keeps its last result meanwhile', async () => {
    const { charts, runs, follow } = world();
    charts.store('web', { text: 'v1' });
    follow();
    await turn();
    runs[0]!.settle.resolve('one');
    await turn();
    charts.store('web', { text: 'v2' });
    expect(follow()).toEqual({ state: 'pending', value: 'one' });
    await turn();
    charts.store('web', { text: 'v3' });
    expect(follow()).toEqual({ state: 'pending', value: 'one' });
    await turn();
    expect(runs.map(({ input, signal }) => [input, signal.aborted])).toEqual([
      ['v1', true],
      ['v2', true],
      ['v3', false],
    ]);
    runs[1]!.settle.resolve('two, too late');
    await turn();
    expect(follow()).toEqual({ state: 'pending', value: 'one' });
    runs[2]!.settle.resolve('three');
    await turn();
    expect(follow()).toEqual({ state: 'ready', value: 'three' });
  });

  it('keeps running when a change leaves its input equal', async () => {
    const { charts, runs, follow, woken } = world();
    charts.store('web', { text: 'v1' });
    follow();
    await turn();
    charts.store('web', { text: 'v1', note: 'hello' });
    expect(woken()).toBe(0);
    follow();
    await turn();
    expect(runs).toHaveLength(1);
    expect(runs[0]!.signal.aborted).toBe(false);
  });

  it('is retried with backoff after a failure, and wakes nobody for the same failure', async () => {
    const { charts, clock, runs, follow, woken } = world();
    charts.store('web', { text: 'v1' });
    follow();
    for (const [failures, delay] of [100, 200, 400, 400].entries()) {
      await turn();
      expect(runs).toHaveLength(failures + 1);
      runs[failures]!.settle.reject(new Error('no such chart'));
      await turn();
      expect(woken()).toBe(1);
      expect(follow()).toEqual({ state: 'failed', error: 'no such chart' });
      clock.advance(delay - 1);
      await turn();
      expect(runs).toHaveLength(failures + 1);
      clock.advance(1);
    }
    await turn();
    runs[4]!.settle.resolve('at last');
    await turn();
    expect(woken()).toBe(2);
    expect(follow()).toEqual({ state: 'ready', value: 'at last' });
    expect(clock.waiting).toBe(0);
  });

  it('fails with the error of its input, or of a result that is not plain data, and recovers', async () => {
    const { charts, runs, follow } = world();
    charts.store('web', { text: 'v1' });
    follow();
    await turn();
    charts.store('web', { text: 'broken' });
    expect(follow()).toEqual({ state: 'failed', error: 'the chart is broken' });
    expect(runs[0]!.signal.aborted).toBe(true);
    charts.store('web', { text: 'v1' });
    expect(follow()).toEqual({ state: 'pending' });
    await turn();
    runs[1]!.settle.resolve(new Date() as never);
    await turn();
    expect(follow()).toMatchObject({ state: 'failed', error: expect.stringContaining('value is a Date') });
  });

  it('is cancelled when its last reader leaves, and so is its next retry', async () => {
    const { charts, clock, runs, rendered, tracker, follow } = world();
    charts.store('web', { text: 'v1' });
    follow();
    await turn();
    tracker.close();
    await turn();
    expect(runs[0]!.signal.aborted).toBe(true);
    expect(rendered.kept).toBe(0);
    follow();
    await turn();
    runs[1]!.settle.reject(new Error('no'));
    await turn();
    expect(clock.waiting).toBe(1);
    tracker.close();
    await turn();
    expect(clock.waiting).toBe(0);
    rendered.load('web');
    await turn();
    expect(runs).toHaveLength(2);
  });

  it('can be listed, indexed and subscribed to if its keys are declared', async () => {
    const { charts, runs, all } = world();
    charts.store('web', { text: 'v1' });
    charts.store('db', { text: 'v1' });
    const subscription = all.subscribe();
    await turn();
    expect(all.list({ index: ['state', 'pending'] })).toHaveLength(2);
    runs[0]!.settle.resolve('db');
    await turn();
    expect(all.list({ index: ['state', 'ready'] })).toEqual([{ state: 'ready', value: 'db' }]);
    charts.delete('web');
    await turn();
    expect(runs[1]!.signal.aborted).toBe(true);
    await subscription.return!();
  });
});

describe('an asynchronous value, for every interleaving,', () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('store'), text: fc.constantFrom('v1', 'v2', 'v3', 'broken') }),
    },
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('resolve', 'reject'), run: fc.nat(8) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(50, 100, 400) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('delete', 'forget', 'turn') }) },
  );

  it('has the state of the newest input, at most one run of it, and the last result', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const { charts, clock, runs, tracker, follow } = world();
        let last: string | undefined;
        follow();
        for (const action of steps) {
          if (action.do === 'store') charts.store('web', { text: action.text });
          else if (action.do === 'delete') charts.delete('web');
          else if (action.do === 'forget') tracker.close();
          else if (action.do === 'advance') clock.advance(action.ms);
          else if (action.do === 'resolve' || action.do === 'reject') {
            const run = runs[action.run % (runs.length || 1)];
            if (action.do === 'reject') run?.settle.reject(new Error(`no ${run.input}`));
            else run?.settle.resolve(`done ${run.input}`);
          }
          if (action.do === 'forget' || charts.size === 0) {
            await turn();
            last = undefined;
          }
          follow();
          await turn();
          const state = follow();
          const text = charts.load('web')?.text;
          const live = runs.filter(({ signal }) => !signal.aborted);
          if (state?.state === 'ready') last = state.value;
          // A finished computation is neither cancelled nor restarted, so at most one is left.
          expect(new Set(live.map(({ input }) => input)).size).toBeLessThanOrEqual(1);
          expect(live.every(({ input }) => input === text)).toBe(true);
          expect(state?.value).toBe(last);
          if (text === undefined) assert.equal(state, undefined);
          else if (text === 'broken') assert.equal(state!.state === 'failed' && state!.error, 'the chart is broken');
          else if (state!.state === 'ready') assert.equal(state!.value, `done ${text}`);
          else if (state!.state === 'failed') assert.equal(state!.error, `no ${text}`);
          expect(clock.waiting <= 1 && (clock.waiting === 0 || state?.state === 'failed')).toBe(true);
        }
        tracker.close();
        await turn();
        expect(clock.waiting).toBe(0);
        expect(runs.every(({ signal }) => signal.aborted)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
