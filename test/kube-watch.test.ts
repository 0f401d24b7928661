// Watches and reflectors on every cluster.
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Client, WatchEvent, WatchOptions } from '../src/kube/client/client.ts';
import { systemClock } from '../src/kube/clock.ts';
import { isExpired } from '../src/kube/errors.ts';
import { runReflector } from '../src/kube/tables/reflector.ts';
import { Table } from '../src/kube/tables/table.ts';
import { describeClusters } from './cluster/index.ts';
import { until } from './support/until.ts';
import { configMap, configMaps, installWidgets, widgets } from './support/kinds.ts';
import type { ConfigMap } from './support/kinds.ts';

describeClusters('watch', (cluster) => {
  let client: Client;
  let ends: AbortController[] = [];

  beforeAll(async () => {
    client = cluster.client();
    await installWidgets(client);
  });
  afterEach(() => {
    for (const end of ends) end.abort();
    ends = [];
  });

  /** Starts a watch that records its events as `TYPE name`, in order. */
  function follow(options: WatchOptions): {
    seen: string[];
    last(): string;
    done: Promise<void>;
    end(): Promise<void>;
  } {
    const controller = new AbortController();
    ends.push(controller);
    const seen: string[] = [];
    let last = options.resourceVersion ?? '';
    const done = client.watch(configMaps, { ...options, signal: controller.signal }, (event: WatchEvent<ConfigMap>) => {
      last = event.object.metadata.resourceVersion!;
      if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
    });
    const settled = done.catch(() => undefined);
    return {
      seen,
      last: () => last,
      done,
      end: async () => {
        controller.abort();
        await settled;
      },
    };
  }

  test('resumes from a resource version without lost or repeated events', async () => {
    const namespace = await cluster.namespace('watch');
    const mine = { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
    const { resourceVersion } = await client.list(configMaps, mine);
    const first = follow({ ...mine, resourceVersion });
    await client.create(configMaps, configMap(namespace, 'a'));
    await until(() => first.seen.length === 1);
    await first.end();

    await client.create(configMaps, configMap(namespace, 'b'));
    await client.patch(configMaps, { namespace, name: 'a' }, { type: 'merge', body: { data: { x: '1' } } });
    await client.delete(configMaps, { namespace, name: 'b' });
    const second = follow({ ...mine, resourceVersion: first.last() });
    await until(() => second.seen.length >= 3);
    await second.end();
    expect(first.seen).toEqual(['ADDED a']);
    expect(second.seen).toEqual(['ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  test('reports an object that stops or starts to match the selector as deleted or added', async () => {
    const namespace = await cluster.namespace('watch');
    const selection = { namespace, labelSelector: 'colour=red' };
    const { resourceVersion } = await client.list(configMaps, selection);
    const watching = follow({ ...selection, resourceVersion });
    const ref = { namespace, name: 'a' };
    const paint = (colour: string): Promise<unknown> =>
      client.patch(configMaps, ref, { type: 'merge', body: { metadata: { labels: { colour } } } });
    await client.create(configMaps, configMap(namespace, 'a'));
    for (const colour of ['red', 'blue', 'red']) await paint(colour);
    await until(() => watching.seen.length >= 3);
    expect(watching.seen).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  });

  test('starts with the existing objects if initial events are requested', async () => {
    const namespace = await cluster.namespace('watch');
    for (const name of ['a', 'b']) await client.create(configMaps, configMap(namespace, name));
    const mine = { namespace, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
    const watching = follow({ ...mine, sendInitialEvents: true });
    await until(() => watching.seen.length >= 2);
    expect(watching.seen.toSorted()).toEqual(['ADDED a', 'ADDED b']);
  });

  test('ends regularly after the requested timeout', async () => {
    const namespace = await cluster.namespace('watch');
    const { resourceVersion } = await client.list(configMaps, { namespace });
    await expect(follow({ namespace, resourceVersion, timeoutSeconds: 1 }).done).resolves.toBeUndefined();
  });

  test.runIf(cluster.name === 'real')('from a compacted resource version fails as expired', async () => {
    const watching = client.watch(widgets, { resourceVersion: '1', timeoutSeconds: 5 }, () => undefined);
    const error = await watching.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isExpired(error)).toBe(true);
  });

  describe('a reflector', () => {
    test('keeps its table consistent with the server through 400 changes', async () => {
      const namespace = await cluster.namespace('reflect');
      const end = new AbortController();
      ends.push(end);
      const table = new Table(configMaps, { namespace });
      const running = runReflector({ client, table, clock: systemClock, signal: end.signal });
      await table.whenSynced();
      await Promise.all(Array.from({ length: 20 }, (_, worker) => churn(client, namespace, `w${worker}`, 5)));
      await client.create(configMaps, configMap(namespace, 'last'));
      await until(() => table.get(`${namespace}/last`) !== undefined);
      const { items } = await client.list(configMaps, { namespace });
      const versions = (objects: readonly ConfigMap[]): string[] =>
        objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).toSorted();
      expect(versions(table.list())).toEqual(versions(items));
      end.abort();
      await running;
    });
  });
});

/** Creates, changes and deletes ConfigMaps: three or four writes per round; every second round leaves one behind. */
async function churn(client: Client, namespace: string, prefix: string, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const ref = { namespace, name: `${prefix}-${round}` };
    await client.create(configMaps, configMap(namespace, ref.name));
    await client.patch(configMaps, ref, { type: 'merge', body: { data: { round: String(round) } } });
    await client.delete(configMaps, ref);
    if (round % 2 === 0) await client.create(configMaps, configMap(namespace, ref.name));
  }
}
