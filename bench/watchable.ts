// Compares watchable maps with native ones: the cost of a store, a snapshot and an iteration.
import { derive, Tracker, WatchableMap } from '../src/watchable/index.ts';
import type { Read, Subscription } from '../src/watchable/index.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';
import type { Row } from './support.ts';

interface Route {
  readonly weight: number;
}

interface HostedRoute extends Route {
  readonly host: string;
}

const SIZES = [1_000, 10_000, 100_000];
const SUBSCRIBERS = [1, 10, 100, 1_000];
const STORES = 1_000;

/** Runs the benchmark and prints its tables; returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const gc = (globalThis as { gc?: () => void }).gc;
  const met: boolean[] = [];
  const tables = { state: states, store: stores };
  for (const [title, measure] of Object.entries(tables)) {
    for (const size of SIZES) {
      met.push(table(`watchable: ${title}, ${size.toLocaleString('en-US')} entries`, await measure(size)));
    }
  }
  met.push(table('watchable: one change among 100,000 objects, 10,000 derived values', await derivations()));
  met.push(table('watchable: store, then delivery to all, 10,000 entries', await deliveries(10_000)));
  if (gc !== undefined) met.push(table('watchable: memory, 1,000,000 stores over 1,000 keys', memory(gc)));
  return met.every(Boolean);
}

/** The memory retained by subscribers that never read. */
function memory(collect: () => void): Row[] {
  const map = new FilledMap(keysFor(1_000), 10);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 1_000_000; index++) map.store();
  collect();
  const growth = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  map.close();
  return [target('heap growth with 10 subscribers that never read', growth, 20, 'atMost', ' MB')];
}

/** The cost that subscribers add to a store: those that keep up, and those that never read. */
async function stores(size: number): Promise<Row[]> {
  const rows: Row[] = [];
  const names = keysFor(size);
  for (const count of SUBSCRIBERS) {
    const alone = new FilledMap(names, 0);
    const stuck = new FilledMap(names, count);
    // Subscribers that keep up take snapshots, and the first store after a snapshot copies a shard. So the baseline
    // takes snapshots as often.
    const read = new FilledMap(names, 0);
    const parked = new FilledMap(names, count);
    const times = await interleave(51, {
      alone: () => alone.stores(),
      stuck: () => stuck.stores(),
      read: () => read.stores(),
      parked: () => parked.stores(),
      betweenRounds: async () => {
        read.snapshot();
        await parked.settle();
      },
    });
    if (count === 1) rows.push(note('store, no subscriber', (median(times.alone) / STORES) * 1e6, ' ns'));
    const label = `with ${plural(count)}`;
    rows.push(target(`store ${label}, keeping up / with none`, ratio(times.parked, times.read), 2, 'atMost'));
    rows.push(target(`store ${label}, never reading / with none`, ratio(times.stuck, times.alone), 2, 'atMost'));
    for (const map of [alone, stuck, read, parked]) map.close();
  }
  return rows;
}

/** The cost of a snapshot after a change, and of reading it. */
async function states(size: number): Promise<Row[]> {
  const names = keysFor(size);
  const map = filled(names);
  const native = new Map(map.loadAll());
  const copies = Math.max(1, Math.round(100_000 / size));
  const rounds = 21;
  let turn = 0;
  const nextKey = (): string => names[(turn = (turn + 7_919) % size)]!;
  const snapshots = await interleave(rounds, {
    ours: () => {
      for (let index = 0; index < STORES; index++) {
        map.store(nextKey(), { weight: turn + index });
        keep(map.loadAll());
      }
    },
    native: () => {
      for (let index = 0; index < copies; index++) {
        native.set(nextKey(), { weight: turn + index });
        keep(new Map(native));
      }
    },
  });
  const ours = median(snapshots.ours) / STORES;

  const passes = Math.max(3, copies);
  const view = map.loadAll();
  const plain = new Map(view);
  const walks = await interleave(rounds, {
    ours: () => {
      let sum = 0;
      for (let pass = 0; pass < passes; pass++) for (const [key, route] of view) sum += key.length + route.weight;
      keep(sum);
    },
    native: () => {
      let sum = 0;
      for (let pass = 0; pass < passes; pass++) for (const [key, route] of plain) sum += key.length + route.weight;
      keep(sum);
    },
    oursForEach: () => {
      let sum = 0;
      for (let pass = 0; pass < passes; pass++) view.forEach((route, key) => (sum += key.length + route.weight));
      keep(sum);
    },
  });
  const reads = await interleave(rounds, {
    ours: () => {
      let sum = 0;
      for (let index = 0; index < 10_000; index++) sum += view.get(nextKey())!.weight;
      keep(sum);
    },
    native: () => {
      let sum = 0;
      for (let index = 0; index < 10_000; index++) sum += plain.get(nextKey())!.weight;
      keep(sum);
    },
  });
  const speedUp = ratio(snapshots.native, snapshots.ours) * (STORES / copies);
  const snapshotName = 'copying a native map / store and snapshot';
  return [
    note('store and snapshot', ours * 1e3, ' µs'),
    size === 100_000 ? target(snapshotName, speedUp, 200, 'atLeast') : note(snapshotName, speedUp, 'x'),
    target('iterating a snapshot / a native map', ratio(walks.ours, walks.native), 2, 'atMost'),
    note('forEach over a snapshot / iterating a native map', ratio(walks.oursForEach, walks.native), 'x'),
    note('get from a snapshot / from a native map', ratio(reads.ours, reads.native), 'x'),
  ];
}

/** One store, then all subscribers read it: end to end. */
async function deliveries(size: number): Promise<Row[]> {
  const rows: Row[] = [];
  const names = keysFor(size);
  for (const count of SUBSCRIBERS) {
    const map = new FilledMap(names, count);
    await map.settle();
    const times = await interleave(21, {
      delivery: async () => {
        map.store();
        await map.settle();
      },
    });
    rows.push(note(`${plural(count)}, per subscriber`, (median(times.delivery) / count) * 1e3, ' µs'));
    map.close();
  }
  return rows;
}

/** One change that is delivered to its readers, compared with computing everything again. */
async function derivations(): Promise<Row[]> {
  const hosts = 10_000;
  const changes = 100;
  const routes = new WatchableMap<string, HostedRoute>({ name: 'routes', indexes: { host: ({ host }) => [host] } });
  for (const [index, name] of keysFor(100_000).entries()) {
    routes.store(name, { host: `host-${index % hosts}`, weight: index });
  }
  let computed = 0;
  const sumOf = (read: Pick<Read, 'index'>, host: string): number => {
    computed++;
    return read.index(routes, 'host', host).reduce((sum, { weight }) => sum + weight, 0);
  };
  const sums = derive('sums', sumOf);
  const totals = derive('totals', (read, name: string) => ({ sum: sumOf(read, name), shard: name.slice(-2) }), {
    keys: (read) => new Set(read.list(routes).map(({ host }) => host)),
    indexes: { shard: ({ shard }) => [shard] },
  });
  let woken = 0;
  const byKey = new Tracker<number>({ wake: () => woken++ });
  for (let host = 0; host < hosts; host++) byKey.track(host, (read) => read.get(sums, `host-${host}`));
  let turn = 0;
  const change = (tracker: Tracker<number>): void => {
    turn = (turn + 7_919) % 100_000;
    const name = `team-${turn % 97}/route-${turn}`;
    routes.store(name, { host: `host-${turn % hosts}`, weight: ++weights });
    tracker.deliver();
  };
  const everything = (): void => {
    const read: Pick<Read, 'index'> = { index: (map, index, under) => map.list({ index: [index, under] }) };
    for (let host = 0; host < hosts; host++) keep(sumOf(read, `host-${host}`));
  };
  const counted = (run: () => void): number => {
    computed = 0;
    run();
    return computed;
  };
  const once = counted(() => change(byKey));
  const all = counted(everything);
  const values = await interleave(21, {
    ours: () => {
      for (let index = 0; index < changes; index++) change(byKey);
    },
    all: everything,
  });
  const heard = woken;
  byKey.close();
  // Listed: 100 readers of one shard each, and keys from a function that reads all routes.
  const byShard = new Tracker<number>({ wake: () => woken++ });
  for (let shard = 0; shard < 100; shard++) {
    byShard.track(shard, (read) => read.index(totals, 'shard', String(shard).padStart(2, '0')));
  }
  const listed = counted(() => change(byShard));
  const lists = await interleave(5, { ours: () => change(byShard) });
  byShard.close();
  return [
    target('values computed for everything / for one change', all / once, 1_000, 'atLeast'),
    target('the same, where the derived map is listed', all / listed, 1_000, 'atLeast'),
    target('readers woken by one change', heard / (23 * changes + 1), 1, 'atMost', ''),
    note(
      'time to compute everything / to bring one change to its reader',
      ratio(values.all, values.ours) * changes,
      'x',
    ),
    note('one change, to its reader', (median(values.ours) / changes) * 1e3, ' µs'),
    note('one change, to the readers of lists, keys from all objects', median(lists.ours), ' ms'),
  ];
}

/** A filled map with subscribers. */
class FilledMap {
  readonly #map: WatchableMap<string, Route>;
  readonly #names: readonly string[];
  readonly #subscriptions: Subscription<string, Route>[];
  #reads: Promise<unknown>[] = [];
  #turn = 0;

  constructor(names: readonly string[], subscribers: number) {
    this.#map = filled(names);
    this.#names = names;
    this.#subscriptions = Array.from({ length: subscribers }, () => this.#map.subscribe());
  }

  store(): void {
    this.#turn = (this.#turn + 7_919) % this.#names.length;
    this.#map.store(this.#names[this.#turn]!, { weight: ++weights });
  }

  snapshot(): void {
    keep(this.#map.loadAll());
  }

  stores(): void {
    for (let index = 0; index < STORES; index++) this.store();
  }

  /** Waits for pending reads and starts the next read of every subscriber. */
  async settle(): Promise<void> {
    await Promise.all(this.#reads);
    this.#reads = this.#subscriptions.map((subscription) => subscription.next());
  }

  close(): void {
    this.#map.close();
  }
}

let weights = 0;
let kept: unknown;

/** Uses a result, so that the optimiser cannot remove the work. */
function keep(value: unknown): void {
  kept = value;
}

function plural(subscribers: number): string {
  return subscribers === 1 ? '1 subscriber' : `${subscribers.toLocaleString('en-US')} subscribers`;
}

function keysFor(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `team-${index % 97}/route-${index}`);
}

function filled(names: readonly string[]): WatchableMap<string, Route> {
  const map = new WatchableMap<string, Route>({ name: 'bench' });
  for (const name of names) map.store(name, { weight: 0 });
  return map;
}

if (import.meta.main) {
  const met = await run();
  process.exitCode = met && kept !== null ? 0 : 1;
}
