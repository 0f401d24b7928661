// Tables on an API server with faults: once the faults stop, the tables are consistent again within a bound.
import { afterEach, describe, expect, it } from 'vitest';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import type { Client } from '../src/kube/client/client.ts';
import { connect } from '../src/kube/client/connect.ts';
import { defineKind, keyOf } from '../src/kube/objects.ts';
import type { Kind, KubeObject } from '../src/kube/objects.ts';
import { runReflector } from '../src/kube/tables/reflector.ts';
import { Table } from '../src/kube/tables/table.ts';
import type { TableOptions } from '../src/kube/tables/table.ts';
import { startChaos } from './support/chaos-proxy.ts';
import type { Chaos } from './support/chaos-proxy.ts';
import { fastClock } from './support/fast-clock.ts';
import { seededRandom } from './support/random.ts';
import { until } from './support/until.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}
const ConfigMap = defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps');
const Secret = defineKind<ConfigMap>('v1', 'Secret', 'secrets');

/** The reflectors' time runs this much faster than ours. */
const FASTER = 100;
/** The longest timeout of a reflector for a silent connection, and ten seconds for lists on a busy machine. */
const BOUND_MS = (150_000 + 60_000) / FASTER + 10_000;

class World {
  readonly tables: Table<ConfigMap>[] = [];
  readonly reversals: string[] = [];
  readonly #end = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #reader: Client;
  readonly direct: Client;
  readonly embedded: Embedded;
  readonly chaos: Chaos;

  private constructor(embedded: Embedded, chaos: Chaos) {
    this.embedded = embedded;
    this.chaos = chaos;
    this.direct = connect({ server: embedded.url, caPem: embedded.caPem, token: embedded.admin.token });
    this.#reader = connect({ server: chaos.url }, { clock: fastClock(FASTER) });
  }

  static async start(seed: number): Promise<World> {
    const embedded = await startEmbedded();
    const target = { url: embedded.url, caPem: embedded.caPem, token: embedded.admin.token };
    const faults = { gone: 0.1, busy: 0.1, error: 0.1, unavailable: 0.1, refuse: 0.05, late: 0.3 };
    const inWatches = { drop: 0.02, goneInStream: 0.02, silence: 0.01, repeat: 0.1 };
    const chaos = await startChaos({ target, seed, faults: { ...faults, ...inWatches }, refuseMs: 20, lateMs: 10 });
    return new World(embedded, chaos);
  }

  /** Runs a reflector for a table through the faulty proxy. */
  reflect(kind: Kind<ConfigMap>, options: TableOptions<ConfigMap>, random: () => number): void {
    const table = new Table(kind, options);
    this.tables.push(table);
    const clock = fastClock(FASTER);
    this.#running.push(
      this.#recordReversals(table),
      runReflector({ client: this.#reader, table, clock, random, signal: this.#end.signal, pageSize: 7 }),
    );
  }

  async #recordReversals(table: Table<ConfigMap>): Promise<void> {
    for await (const { updates } of table.map.subscribe({ signal: this.#end.signal })) {
      for (const { key, delete: isGone, value, before } of updates) {
        const version = (object: ConfigMap): bigint => BigInt(object.metadata.resourceVersion!);
        if (!isGone && before !== undefined && version(value) <= version(before)) this.reversals.push(key);
      }
    }
  }

  /** Whether each table has exactly the objects that the server lists for it. */
  async exact(): Promise<boolean> {
    for (const table of this.tables) {
      const { items } = await this.direct.list(table.kind, table.selection);
      const expected = new Map(items.map((item) => [keyOf(item.metadata), item]));
      const same = table.list().every((object) => {
        const item = expected.get(keyOf(object.metadata));
        return (
          item?.metadata.resourceVersion === object.metadata.resourceVersion &&
          item?.metadata.uid === object.metadata.uid
        );
      });
      if (!same || table.size !== expected.size) return false;
    }
    return true;
  }

  /** Makes one random write, and lets some of the tables observe it, as a writer in this process would. */
  async write(random: () => number): Promise<void> {
    const kind = random() < 0.5 ? ConfigMap : Secret;
    const ref = { namespace: 'default', name: `n${Math.floor(random() * 25)}` };
    const metadata = { ...ref, labels: { on: random() < 0.5 ? 'yes' : 'no' } };
    const tables = this.tables.filter((table) => table.kind === kind && random() < 0.5);
    const old = await this.direct.get(kind, ref).catch(() => undefined);
    if (old && random() < 0.4) {
      await this.direct.delete(kind, ref);
      for (const table of tables) table.observeDeleted(old);
      return;
    }
    const written = old
      ? await this.direct.patch(kind, ref, { type: 'merge', body: { metadata, data: { n: 'eA==' } } })
      : await this.direct.create(kind, { apiVersion: 'v1', kind: kind.kind, metadata });
    for (const table of tables) table.observe(written);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
    this.direct.close();
    this.#reader.close();
    await this.chaos.stop();
    await this.embedded.stop();
  }
}

describe('tables on a faulty API server', () => {
  let world: World | undefined;
  afterEach(async () => {
    await world?.stop();
    world = undefined;
  });

  it.each([1, 2, 3])(
    'are consistent within the bound once the faults stop (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const w = (world = await World.start(seed));
      w.reflect(ConfigMap, {}, random);
      w.reflect(ConfigMap, { namespace: 'default', labelSelector: 'on=yes' }, random);
      w.reflect(Secret, { labelSelector: 'on notin (no)' }, random);

      const { counts } = w.chaos;
      const write = async (): Promise<void> => {
        await w.write(random);
        // Compacts the history, so that a reflector that lags must list again.
        if (random() < 0.03) w.embedded.store.compact();
      };
      for (let writes = 0; writes < 200; writes++) await write();
      // Some faults happen only in a watch. The pauses between writes let a slow machine come to watch.
      const everyFault = async (): Promise<boolean> => {
        await write();
        return Object.values(counts).every((count) => count > 0);
      };
      await until(everyFault, 60_000, () => counts);

      await w.chaos.calm();
      await until(() => w.exact(), BOUND_MS);
      expect(w.reversals).toEqual([]);

      // Without faults, the tables follow further writes.
      const before = { ...counts };
      for (let i = 0; i < 20; i++) await w.write(random);
      await until(() => w.exact(), BOUND_MS);
      expect(counts).toEqual(before);
      expect(w.reversals).toEqual([]);
    },
    90_000,
  );
});
