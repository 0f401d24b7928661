// A reflector recovers from an API server that freezes, or is killed and restarted. Needs a real one.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../src/kube/client/client.ts';
import { systemClock } from '../src/kube/clock.ts';
import { connect } from '../src/kube/client/connect.ts';
import { loadConfig } from '../src/kube/client/config/kubeconfig.ts';
import { isAlreadyExists } from '../src/kube/errors.ts';
import { runReflector } from '../src/kube/tables/reflector.ts';
import { Table } from '../src/kube/tables/table.ts';
import { describeReal } from './cluster/index.ts';
import { startRealCluster } from './cluster/real.ts';
import type { RealCluster } from './cluster/real.ts';
import { until } from './support/until.ts';
import { configMap, configMaps } from './support/kinds.ts';

const namespace = 'default';

describeReal('a reflector recovers from an API server', () => {
  let cluster: RealCluster;
  let writer: Client;
  let reader: Client;
  let table: Table<ReturnType<typeof configMap>>;
  let reflecting: Promise<void>;
  const end = new AbortController();

  beforeAll(async () => {
    cluster = await startRealCluster({ controllerManager: false, scheduler: false, kubelet: false });
    const config = loadConfig({ path: cluster.kubeconfigPath });
    [writer, reader] = [connect(config), connect(config)];
    table = new Table(configMaps, { namespace });
    reflecting = runReflector({ client: reader, table, clock: systemClock, signal: end.signal });
    await table.whenSynced();
  });
  afterAll(async () => {
    end.abort();
    await reflecting;
    writer?.close();
    reader?.close();
    await cluster?.stop();
  });

  const versions = (objects: readonly ReturnType<typeof configMap>[]): string[] =>
    objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();

  /** After a successful write, the table must have exactly the objects of the server. */
  async function expectEqual(marker: string): Promise<void> {
    await until(() =>
      writer.create(configMaps, configMap(namespace, marker), { timeoutMs: 2_000 }).then(
        () => true,
        isAlreadyExists, // a create that timed out may have succeeded
      ),
    );
    await until(() => table.get(`${namespace}/${marker}`) !== undefined, 60_000);
    expect(versions(table.list())).toEqual(versions((await writer.list(configMaps, { namespace })).items));
  }

  /** Creates and deletes until the signal aborts; failures are expected. Counts writes that succeeded and failed. */
  async function keepWriting(prefix: string, stop: AbortSignal): Promise<{ succeeded: number; failed: number }> {
    const count = { succeeded: 0, failed: 0 };
    for (let number = 0; !stop.aborted; number++) {
      const name = `${prefix}-${number}`;
      try {
        await writer.create(configMaps, configMap(namespace, name), { timeoutMs: 1_000 });
        if (number % 3 === 0) await writer.delete(configMaps, { namespace, name }, { timeoutMs: 1_000 });
        count.succeeded++;
      } catch {
        count.failed++;
        await delay(100);
      }
    }
    return count;
  }

  test('that is frozen for 20 seconds', { timeout: 120_000 }, async () => {
    const stop = new AbortController();
    const writing = keepWriting('freeze', stop.signal);
    await until(() => table.size > 20);
    cluster.pauseApiServer();
    await delay(20_000); // the length of the outage itself
    cluster.resumeApiServer();
    const during = table.size;
    await until(() => table.size > during + 20, 60_000);
    stop.abort();
    const { succeeded, failed } = await writing;
    expect(succeeded).toBeGreaterThan(20);
    expect(failed).toBeGreaterThan(5);
    await expectEqual('after-freeze');
  });

  test('that is killed and restarted', { timeout: 120_000 }, async () => {
    const stop = new AbortController();
    const writing = keepWriting('kill', stop.signal);
    const before = table.size;
    await until(() => table.size > before + 20);
    await cluster.killApiServer();
    await expect(writer.list(configMaps, { namespace, timeoutMs: 1_000 })).rejects.toMatchObject({ code: 0 });
    await cluster.restartApiServer();
    const after = table.size;
    await until(() => table.size > after + 20, 60_000);
    stop.abort();
    await writing;
    await expectEqual('after-kill');
  });
});
