// Derived maps on top of derived maps, each with a naive twin that recomputes everything from two plain maps. Every
// computation compares what it reads with the twins, so that a mix of old and new is detected wherever it arises.
import assert from 'node:assert/strict';
import { derive, Tracker, WatchableMap } from '../../index.ts';
import type { DerivedMap, Read, Snapshot, Subscription } from '../../index.ts';
import { SOURCE } from '../../reads/read.ts';

export type Level = 'twice' | 'either' | 'parts' | 'groups' | 'totals' | 'top';

/** One value of a level, or (where that has keys) all of its entries. */
export interface Question {
  readonly level: Level;
  readonly key: string;
  readonly whole: boolean;
}

export type Step =
  | { readonly do: 'store'; readonly map: number; readonly key: string; readonly value: number }
  | { readonly do: 'delete'; readonly map: number; readonly key: string }
  | { readonly do: 'load'; readonly asked: Question }
  | { readonly do: 'track'; readonly reader: number; readonly questions: readonly Question[] }
  | { readonly do: 'forget' | 'turn' | 'subscribe' | 'unsubscribe'; readonly reader?: number };

interface Part {
  readonly group: string;
  readonly size: number;
}

/** What a computation can ask for, with the type of each answer. */
interface Answers {
  readonly first: number | undefined;
  readonly second: number | undefined;
  readonly twice: number | undefined;
  readonly either: number | undefined;
  readonly groups: number | undefined;
  readonly 'totals of': number | undefined;
  readonly 'size of second': number;
  readonly parts: readonly Part[];
  readonly 'parts in': readonly Part[];
  readonly totals: readonly number[];
}
type Ask = <W extends keyof Answers>(what: W, key: string) => Answers[W];

const KEYS = ['a', 'b', 'c', 'd'];
const LISTED: ReadonlySet<string> = new Set(['parts', 'totals', 'top']);
const GROUPS = ['0', '1', '2'];

export class Pyramid {
  readonly maps = [new WatchableMap<string, number>(), new WatchableMap<string, number>()] as const;
  /** Whether a computation that reads the same answers as before is an error. */
  countNeedless = false;
  readonly #answers = new Map<string, Map<string, string>>();
  readonly #woken = new Set<string>();
  readonly #tracker = new Tracker<string>({ wake: (name) => this.#woken.add(name) });
  readonly #asked = new Map<string, { questions: readonly Question[]; answer: string }>();
  readonly #subscriptions = new Map<number, Subscriber>();

  readonly twice = derive('twice', (read, key: string) =>
    this.#watch(read, `twice ${key}`, (ask) => {
      const number = ask('first', key);
      return number === undefined ? undefined : number * 2;
    }),
  );

  readonly either = derive('either', (read, key: string) =>
    this.#watch(read, `either ${key}`, (ask) => {
      const number = ask('second', key) ?? 0;
      return number % 2 === 0 ? (ask('twice', key) ?? -1) : number;
    }),
  );

  readonly parts: DerivedMap<string, Part> = derive(
    'parts',
    (read, key: string) =>
      this.#watch(read, `parts ${key}`, (ask) => {
        const number = ask('first', key)!;
        const other = ask('either', key)!;
        return number === 5 ? undefined : { group: String(number % 3), size: Math.min(other, 4) };
      }),
    { keys: this.maps[0], indexes: { group: ({ group }) => [group] } },
  );

  readonly groups = derive('groups', (read, group: string) =>
    this.#watch(read, `groups ${group}`, (ask) => ask('parts in', group).reduce((sum, { size }) => sum + size, 0)),
  );

  readonly totals: DerivedMap<string, number> = derive(
    'totals',
    (read, group: string) =>
      this.#watch(read, `totals ${group}`, (ask) => {
        const size = ask('groups', group)!;
        return size > 6 ? ask('size of second', '') + size : size;
      }),
    {
      keys: (read) => this.#watch(read, 'keys of totals', (ask) => new Set(ask('parts', '').map(({ group }) => group))),
    },
  );

  readonly top: DerivedMap<string, number> = derive(
    'top',
    (read, group: string) =>
      this.#watch(read, `top ${group}`, (ask) => {
        const most = Math.max(...ask('totals', ''));
        const own = ask('totals of', group)!;
        return own === most ? own + (ask('either', 'a') ?? 0) : undefined;
      }),
    { keys: this.totals },
  );

  async run(step: Step): Promise<void> {
    switch (step.do) {
      case 'store':
        this.maps[step.map]!.store(step.key, step.value);
        break;
      case 'delete':
        this.maps[step.map]!.delete(step.key);
        break;
      case 'load':
        assert.deepEqual(this.#load(step.asked), this.#expected(step.asked));
        break;
      case 'track':
        this.#track(`r${step.reader}`, step.questions);
        break;
      case 'forget':
        this.#tracker.forget(`r${step.reader}`);
        this.#asked.delete(`r${step.reader}`);
        break;
      case 'subscribe':
        this.#subscribe(step.reader!);
        break;
      case 'unsubscribe':
        await this.#subscriptions.get(step.reader!)?.stream.return!();
        this.#subscriptions.delete(step.reader!);
        break;
      case 'turn':
        await this.#turn();
        break;
    }
    this.#forgetUndeclared();
  }

  /** Adds a reader for each value, so that nothing is ever dropped. */
  readEverything(): void {
    for (const level of ['twice', 'either', 'parts', 'groups', 'totals', 'top'] as const) {
      for (const key of [...KEYS, ...GROUPS]) {
        this.#track(`${level} ${key}`, [{ level, key, whole: false }]);
        this.#track(`${level} whole`, [{ level, key, whole: true }]);
      }
    }
  }

  async end(): Promise<void> {
    await this.#turn();
    for (const { stream } of this.#subscriptions.values()) await stream.return!();
    this.#tracker.close();
    await Promise.resolve();
  }

  /** Names the maps that still keep something after the last reader has left. */
  keptAfterEnd(): string[] {
    const computed = [this.twice, this.either, this.groups].filter(({ kept }) => kept > 0).map(({ name }) => name);
    return [...computed, ...this.maps.flatMap((map, at) => (map[SOURCE].topics.isRead ? [`map ${at}`] : []))];
  }

  // An undeclared key is not computed, so its earlier answers do not count when it is declared again.
  #forgetUndeclared(): void {
    const { parts, totals } = this.#model();
    const groups = new Set([...parts.values()].map(({ group }) => group));
    for (const name of this.#answers.keys()) {
      const [level, key] = name.split(' ') as [string, string];
      const declared = { parts: this.maps[0], totals: groups, top: totals }[level];
      if (declared?.has(key) === false) this.#answers.delete(name);
    }
  }

  // A reader that was not woken still has the right answer, and one that was woken has a different answer now.
  async #turn(): Promise<void> {
    const held = [...this.#subscriptions.values()].map(async (subscriber) => {
      for (;;) {
        subscriber.parked ??= subscriber.stream.next();
        const result = await Promise.race([subscriber.parked, turns()]);
        if (result === undefined) return subscriber.held;
        subscriber.parked = undefined;
        for (const update of result.value?.updates ?? []) {
          if (update.delete) subscriber.held.delete(update.key);
          else subscriber.held.set(update.key, update.value);
        }
      }
    });
    await turns();
    for (const entries of await Promise.all(held)) assert.deepEqual(entries, this.#model().totals);
    for (const [name, { questions, answer }] of this.#asked) {
      const now = this.#entriesOf(questions);
      if (now !== answer) assert(this.#woken.has(name), `${name} was not woken`);
      else if (this.countNeedless) assert(!this.#woken.has(name), `${name} was woken although its answer is the same`);
    }
    for (const name of this.#woken) {
      const asked = this.#asked.get(name);
      if (asked !== undefined) this.#track(name, asked.questions);
    }
    this.#woken.clear();
  }

  #subscribe(reader: number): void {
    if (this.#subscriptions.has(reader)) return;
    const stream = this.totals.subscribe();
    this.#subscriptions.set(reader, { stream, held: new Map(this.totals.loadAll()), parked: undefined });
  }

  #track(name: string, questions: readonly Question[]): void {
    this.#tracker.track(name, (read) => {
      for (const asked of questions) {
        const map = this[asked.level];
        if (asked.whole && 'list' in map)
          assert.deepEqual(read.list(map as DerivedMap<string, unknown>), this.#expected(asked));
        else assert.deepEqual(read.get(map as DerivedMap<string, unknown>, asked.key), this.#expected(asked));
      }
    });
    this.#asked.set(name, { questions, answer: this.#entriesOf(questions) });
    this.#woken.delete(name);
  }

  // Includes the keys: a value that has moved to another key is a different entry.
  #entriesOf(questions: readonly Question[]): string {
    const model = this.#model();
    return JSON.stringify(
      questions.map((each) => [
        this.#expected(each),
        each.whole && LISTED.has(each.level) ? [...model[each.level].keys()] : [],
      ]),
    );
  }

  #load({ level, key, whole }: Question): unknown {
    const map = this[level];
    return whole && 'list' in map ? map.list() : map.load(key);
  }

  #expected({ level, key, whole }: Question): unknown {
    const values: ReadonlyMap<string, unknown> = this.#model()[level];
    return whole && LISTED.has(level) ? sorted(values) : values.get(key);
  }

  /** Runs a computation and compares its reads with the twins. */
  #watch<T>(read: Read, name: string, compute: (ask: Ask) => T): T {
    const model = this.#model();
    const before = this.#answers.get(name);
    if (this.countNeedless && before !== undefined) {
      const isSame = [...before].every(([question, answer]) => answer === this.#fullAnswer(model, question));
      assert(!isSame, `${name} was computed although nothing that it read has changed`);
    }
    const answers = new Map<string, string>();
    this.#answers.set(name, answers);
    return compute((what, key) => {
      const answer = this.#ask(read, what, key);
      assert.deepEqual(
        answer,
        this.#modelAnswer(model, `${what}|${key}`),
        `${name} got an old answer of ${what} ${key}`,
      );
      answers.set(`${what}|${key}`, this.#fullAnswer(model, `${what}|${key}`));
      return answer as never;
    });
  }

  #ask(read: Read, what: string, key: string): unknown {
    switch (what) {
      case 'first':
        return read.get(this.maps[0], key);
      case 'second':
        return read.get(this.maps[1], key);
      case 'size of second':
        return read.size(this.maps[1]);
      case 'parts in':
        return read.index(this.parts, 'group', key);
      case 'parts':
        return read.list(this.parts);
      case 'totals':
        return read.list(this.totals);
      case 'totals of':
        return read.get(this.totals, key);
      default:
        return read.get(this[what as 'twice' | 'either' | 'groups'], key);
    }
  }

  #fullAnswer(model: Model, question: string): string {
    const [what, key] = question.split('|');
    const parts = [...model.parts].filter(([, { group }]) => what === 'parts' || group === key);
    const keys = what === 'totals' ? [...model.totals.keys()] : parts.map(([name]) => name);
    return JSON.stringify([this.#modelAnswer(model, question), /^(totals|parts|parts in)$/.test(what!) && keys]);
  }

  #modelAnswer(model: Model, question: string): unknown {
    const [what, key] = question.split('|') as [string, string];
    switch (what) {
      case 'first':
        return this.maps[0].load(key);
      case 'second':
        return this.maps[1].load(key);
      case 'size of second':
        return this.maps[1].size;
      case 'parts in':
        return sorted(model.parts).filter(({ group }) => group === key);
      case 'parts':
        return sorted(model.parts);
      case 'totals':
        return sorted(model.totals);
      case 'totals of':
        return model.totals.get(key);
      default:
        return model[what as Level].get(key);
    }
  }

  #model(): Model {
    const [first, second] = this.maps;
    const by = <T>(keys: readonly string[], compute: (key: string) => T | undefined): Map<string, T> =>
      new Map(
        keys.flatMap((key) => {
          const value = compute(key);
          return value === undefined ? [] : [[key, value] as const];
        }),
      );
    const twice = by(KEYS, (key) => (first.has(key) ? first.load(key)! * 2 : undefined));
    const either = by([...KEYS, ...GROUPS], (key) => {
      const number = second.load(key) ?? 0;
      return number % 2 === 0 ? (twice.get(key) ?? -1) : number;
    });
    const parts = by(KEYS, (key): Part | undefined => {
      const number = first.load(key);
      if (number === undefined || number === 5) return undefined;
      return { group: String(number % 3), size: Math.min(either.get(key)!, 4) };
    });
    const groups = by([...KEYS, ...GROUPS], (group) =>
      sorted(parts)
        .filter((part) => part.group === group)
        .reduce((sum, { size }) => sum + size, 0),
    );
    const totals = by(GROUPS, (group) => {
      if (![...parts.values()].some((part) => part.group === group)) return undefined;
      const size = groups.get(group)!;
      return size > 6 ? second.size + size : size;
    });
    const most = Math.max(...totals.values());
    const top = by(GROUPS, (group) =>
      totals.has(group) && totals.get(group) === most ? most + either.get('a')! : undefined,
    );
    return { twice, either, parts, groups, totals, top };
  }
}

interface Subscriber {
  readonly stream: Subscription<string, number>;
  readonly held: Map<string, number>;
  parked: Promise<IteratorResult<Snapshot<string, number>>> | undefined;
}

interface Model extends Record<Level, ReadonlyMap<string, unknown>> {
  readonly twice: ReadonlyMap<string, number>;
  readonly either: ReadonlyMap<string, number>;
  readonly parts: ReadonlyMap<string, Part>;
  readonly groups: ReadonlyMap<string, number>;
  readonly totals: ReadonlyMap<string, number>;
  readonly top: ReadonlyMap<string, number>;
}

function sorted<V>(values: ReadonlyMap<string, V>): V[] {
  return [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

async function turns(): Promise<undefined> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  return undefined;
}
