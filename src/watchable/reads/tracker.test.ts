import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { derive, Tracker, WatchableMap } from '../index.ts';
import type { Read, Selection } from '../index.ts';
import { SOURCE } from './read.ts';

interface Pod {
  readonly node: string;
  readonly ready: boolean;
}

const isReady: Selection<string, Pod> = { matches: (pod) => pod.ready, id: 'ready' };

/** Pods, and the names of the readers that each change wakes. */
function world(): { pods: WatchableMap<string, Pod>; tracker: Tracker<string>; woken: () => string[] } {
  const pods = new WatchableMap<string, Pod>({ name: 'pods', indexes: { node: (pod) => [pod.node] } });
  let names: string[] = [];
  const tracker = new Tracker<string>({ wake: (name) => names.push(name) });
  const woken = (): string[] => {
    tracker.deliver();
    const result = names.sort();
    names = [];
    return result;
  };
  return { pods, tracker, woken };
}

const pod = (node: string, ready = true): Pod => ({ node, ready });

it('a tracker reports each new value at once, so that a reader can recognise its own changes', () => {
  const pods = new WatchableMap<string, Pod>({ indexes: { node: (each) => [each.node] } });
  const ready = derive('ready', (read, key: string) => read.get(pods, key)?.ready);
  const reported: [string, unknown][] = [];
  const tracker = new Tracker<string>({ wake: () => {}, onChange: (name, value) => reported.push([name, value]) });
  tracker.track('entry', (read) => read.get(pods, 'a'));
  tracker.track('node', (read) => read.index(pods, 'node', 'n1'));
  tracker.track('derived', (read) => read.get(ready, 'a'));
  pods.store('a', pod('n1'));
  pods.store('a', pod('n1', false));
  expect(reported.filter(([name]) => name === 'entry')).toEqual([
    ['entry', pod('n1')],
    ['entry', pod('n1', false)],
  ]);
  expect(reported.find(([name]) => name === 'node')).toEqual(['node', pod('n1')]);
  // The derived value may have changed; it has not been computed yet.
  expect(reported.find(([name]) => name === 'derived')).toEqual(['derived', undefined]);
  reported.splice(0);
  pods.delete('a');
  expect(reported.find(([name]) => name === 'entry')).toEqual(['entry', undefined]);
  tracker.close();
  expect(tracker.has('entry')).toBe(false);
});

describe('a change', () => {
  it('wakes readers of an entry, also if they did not find it', () => {
    const { pods, tracker, woken } = world();
    pods.store('a', pod('n1'));
    expect(tracker.track('of a', (read) => read.get(pods, 'a'))).toEqual(pod('n1'));
    expect(tracker.track('of b', (read) => read.get(pods, 'b'))).toBeUndefined();
    pods.store('a', pod('n2'));
    expect(woken()).toEqual(['of a']);
    pods.store('b', pod('n1'));
    expect(woken()).toEqual(['of b']);
    pods.delete('a');
    expect(woken()).toEqual(['of a']);
    pods.store('c', pod('n1'));
    expect(woken()).toEqual([]);
  });

  it('wakes readers of presence, keys or size only if it adds or deletes an entry', () => {
    const { pods, tracker, woken } = world();
    pods.store('a', pod('n1'));
    expect(tracker.track('has', (read) => read.has(pods, 'a'))).toBe(true);
    expect(tracker.track('keys', (read) => read.keys(pods))).toEqual(['a']);
    expect(tracker.track('size', (read) => read.size(pods))).toBe(1);
    pods.store('a', pod('n2'));
    expect(woken()).toEqual([]);
    pods.store('b', pod('n2'));
    expect(woken()).toEqual(['keys', 'size']);
    pods.delete('a');
    expect(woken()).toEqual(['has', 'keys', 'size']);
  });

  it('wakes readers of lists that its entry was or is in', () => {
    const { pods, tracker, woken } = world();
    pods.store('b', pod('n1'));
    pods.store('a', pod('n2', false));
    expect(tracker.track('all', (read) => read.list(pods))).toEqual([pod('n2', false), pod('n1')]);
    expect(tracker.track('ready', (read) => read.list(pods, isReady))).toEqual([pod('n1')]);
    expect(tracker.track('on n1', (read) => read.index(pods, 'node', 'n1'))).toEqual([pod('n1')]);
    expect(tracker.track('on n3', (read) => read.index(pods, 'node', 'n3'))).toEqual([]);
    const onN2 = { ...isReady, index: ['node', 'n2'] } as const;
    expect(tracker.track('ready on n2', (read) => read.list(pods, onN2))).toEqual([]);
    pods.store('a', pod('n3', false));
    expect(woken()).toEqual(['all', 'on n3']);
    pods.store('b', pod('n2'));
    expect(woken()).toEqual(['all', 'on n1', 'ready', 'ready on n2']);
    pods.store('a', pod('n3', true));
    expect(woken()).toEqual(['all', 'on n3', 'ready']);
    pods.delete('b');
    expect(woken()).toEqual(['all', 'ready', 'ready on n2']);
  });

  it('wakes a reader once for a whole synchronous run, and after it', async () => {
    const { pods } = world();
    const names: string[] = [];
    const tracker = new Tracker<string>({ wake: (name) => names.push(name) });
    tracker.track('reader', (read) => [read.get(pods, 'a'), read.list(pods)]);
    pods.store('a', pod('n1'));
    pods.store('a', pod('n2'));
    expect(names).toEqual([]);
    await Promise.resolve();
    expect(names).toEqual(['reader']);
    pods.store('a', pod('n3'));
    await Promise.resolve();
    expect(names).toEqual(['reader', 'reader']);
  });

  it('wakes readers of their last run, also if that threw, and never forgotten readers', () => {
    const { pods, tracker, woken } = world();
    tracker.track('one', (read) => read.get(pods, 'a'));
    const failing = (): void =>
      tracker.track('one', (read) => {
        read.get(pods, 'b');
        throw new Error('no');
      });
    expect(failing).toThrow('no');
    pods.store('a', pod('n1'));
    expect(woken()).toEqual([]);
    pods.store('b', pod('n1'));
    expect(woken()).toEqual(['one']);
    tracker.forget('one');
    pods.store('b', pod('n2'));
    expect(woken()).toEqual([]);
    tracker.track('two', (read) => read.list(pods));
    pods.store('b', pod('n3'));
    tracker.close();
    expect(woken()).toEqual([]);
  });

  it('wakes for each read of the last run, however many there are and in whatever order', () => {
    const { pods, tracker, woken } = world();
    const names = Array.from({ length: 50 }, (_none, number) => `p${number}`);
    const readAll = (some: readonly string[]): void =>
      tracker.track('one', (read) => {
        for (const name of some) read.get(pods, name);
      });
    const concerning = (): string[] =>
      names.filter((name) => pods.store(name, pod(`n${++turn}`)) && woken().length > 0);
    let turn = 0;
    const again = names.slice(0, 30);
    for (const [read, wanted] of [
      [names, names],
      [names, names],
      [again, again],
      [[...again, 'p3', ...again], again],
      [names.toReversed(), names],
      [names.slice(40), names.slice(40)],
      [
        ['p2', 'p1', 'p2', 'p1'],
        ['p1', 'p2'],
      ],
    ] as const) {
      readAll(read);
      expect(concerning()).toEqual(wanted);
    }
    tracker.close();
    expect(pods[SOURCE].topics.isRead).toBe(false);
  });

  it('wakes the other readers when one of the wake-ups throws', () => {
    const pods = new WatchableMap<string, number>();
    const names: string[] = [];
    const tracker = new Tracker<string>({
      wake: (name) => {
        names.push(name);
        if (name === 'first') throw new Error('no');
      },
    });
    for (const name of ['first', 'second']) tracker.track(name, (read) => read.get(pods, 'a'));
    pods.store('a', 1);
    expect(() => tracker.deliver()).toThrow('no');
    expect(names).toEqual(['first', 'second']);
  });
});

describe('a tracker', () => {
  it('leaves nothing behind in the map when its readers are gone', () => {
    const { pods, tracker } = world();
    for (let number = 0; number < 100; number++) {
      tracker.track(`r${number}`, (read) => {
        read.get(pods, `p${number}`);
        read.has(pods, `p${number}`);
        read.list(pods, { matches: () => true });
        read.index(pods, 'node', `n${number}`);
        read.keys(pods);
      });
    }
    expect(pods[SOURCE].topics.isRead).toBe(true);
    tracker.close();
    expect(tracker.size).toBe(0);
    expect(pods[SOURCE].topics.isRead).toBe(false);
  });

  it('rejects reads after the function has returned, and undeclared indexes', () => {
    const { pods, tracker } = world();
    const leaked = tracker.track('one', (read: Read) => read);
    expect(() => leaked.get(pods, 'a')).toThrow(/read before the first await/);
    expect(() => tracker.track('one', (read) => read.index(pods, 'zone', 'z'))).toThrow(
      'watchable map "pods" has no index "zone" (declared: node)',
    );
  });

  it('wakes a reader whose predicate throws, and does not fail the publisher', () => {
    const { pods, tracker, woken } = world();
    let isBroken = false;
    const matches = (): boolean => {
      if (isBroken) throw new Error('no');
      return false;
    };
    tracker.track('picky', (read) => read.list(pods, { matches }));
    isBroken = true;
    pods.store('a', pod('n1'));
    expect(woken()).toEqual(['picky']);
  });
});

describe('an index of a map', () => {
  it('rejects a value that its function throws for, and leaves everything as it was', () => {
    const map = new WatchableMap<string, { tags: string[] }>({
      indexes: { tag: ({ tags }) => tags.map((tag) => tag) },
    });
    map.store('a', { tags: ['x', 'x', 'y'] });
    expect(() => map.store('a', {} as never)).toThrow(TypeError);
    expect(map.load('a')).toEqual({ tags: ['x', 'x', 'y'] });
    expect(map.list({ index: ['tag', 'x'] })).toEqual([{ tags: ['x', 'x', 'y'] }]);
    map.delete('a');
    expect(map.list({ index: ['tag', 'y'] })).toEqual([]);
  });

  it('finds the new reference after an equal store that replaces', () => {
    const map = new WatchableMap<string, { tag: string }>({ onEqual: 'replace', indexes: { tag: ({ tag }) => [tag] } });
    map.store('a', { tag: 'x' });
    const next = { tag: 'x' };
    map.store('a', next);
    expect(map.list({ index: ['tag', 'x'] })[0]).toBe(next);
  });
});

describe('a tracker, for every interleaving,', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const value = fc.record({ node: fc.constantFrom('n1', 'n2', 'n3'), ready: fc.boolean() });
  const selection = fc.record(
    { index: fc.tuple(fc.constant('node'), fc.constantFrom('n1', 'n2', 'n3')), isReady: fc.boolean() },
    { requiredKeys: ['isReady'] },
  );
  const question = fc.oneof(
    fc.record({ ask: fc.constantFrom('get', 'has'), key }),
    fc.record({ ask: fc.constantFrom('keys', 'size') }),
    fc.record({ ask: fc.constant('list'), selection }),
  );
  type Question = typeof question extends fc.Arbitrary<infer Q> ? Q : never;
  const step = fc.oneof(
    fc.record({ do: fc.constant('store'), key, value }),
    fc.record({ do: fc.constant('delete'), key }),
    fc.record({ do: fc.constant('track'), reader: fc.nat(3), questions: fc.array(question, { maxLength: 4 }) }),
    fc.record({ do: fc.constantFrom('forget', 'deliver'), reader: fc.nat(3) }),
  );

  const answer = (read: Read, pods: WatchableMap<string, Pod>, asked: Question): unknown => {
    switch (asked.ask) {
      case 'get':
        return read.get(pods, asked.key);
      case 'has':
        return read.has(pods, asked.key);
      case 'keys':
        return read.keys(pods);
      case 'size':
        return read.size(pods);
      case 'list': {
        const { index, isReady: onlyReady } = asked.selection;
        return read.list(pods, { ...(index && { index }), ...(onlyReady && isReady) });
      }
    }
  };

  it('wakes a reader if and only if an answer to what it last asked has changed in between', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const { pods, tracker, woken } = world();
        const asked = new Map<string, readonly Question[]>();
        const expected = new Set<string>();
        const answers = (questions: readonly Question[]): string =>
          JSON.stringify(tracker.track('observer', (read) => questions.map((each) => answer(read, pods, each))));
        const change = (write: () => void): void => {
          const before = new Map([...asked].map(([name, questions]) => [name, answers(questions)]));
          write();
          for (const [name, questions] of asked) if (answers(questions) !== before.get(name)) expected.add(name);
        };
        const reported: string[][] = [];
        const due: string[][] = [];
        for (const action of [...steps, { do: 'deliver', reader: 0 } as const]) {
          if (action.do === 'store') change(() => void pods.store(action.key, action.value));
          else if (action.do === 'delete') change(() => void pods.delete(action.key));
          else if (action.do === 'track') {
            const name = `r${action.reader}`;
            tracker.track(name, (read) => action.questions.map((each) => answer(read, pods, each)));
            asked.set(name, action.questions);
            expected.delete(name);
          } else if (action.do === 'forget') {
            tracker.forget(`r${action.reader}`);
            asked.delete(`r${action.reader}`);
            expected.delete(`r${action.reader}`);
          } else {
            tracker.forget('observer');
            reported.push(woken());
            due.push([...expected].sort());
            expected.clear();
          }
        }
        expect(reported).toEqual(due);
      }),
      { numRuns: 300 },
    );
  });
});
