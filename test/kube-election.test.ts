// Leader election and Events on every cluster.
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../src/kube/client/client.ts';
import { systemClock } from '../src/kube/clock.ts';
import { connect } from '../src/kube/client/connect.ts';
import { Event, EventRecorder } from '../src/kube/events.ts';
import { loadConfig } from '../src/kube/client/config/kubeconfig.ts';
import { LeaderElector, Lease } from '../src/kube/lease.ts';
import { defineKind } from '../src/kube/objects.ts';
import { describeClusters } from './cluster/index.ts';
import { configMap, configMaps } from './support/kinds.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';
import { until } from './support/until.ts';

/** For a test in which a Lease expires, and for one in which none does. */
const SHORT = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
const LONG = { leaseDurationMs: 20_000, renewDeadlineMs: 15_000, retryPeriodMs: 400 };

describeClusters('leader election', (cluster) => {
  let client: Client;
  let namespace: string;
  let cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('election');
  });
  afterEach(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
    cleanups = [];
  });

  /** Starts an elector that logs its transitions. */
  function campaign(
    name: string,
    identity: string,
    log: string[],
    through = client,
    times = SHORT,
  ): { elector: LeaderElector; stop(): Promise<void> } {
    const end = new AbortController();
    const elector = new LeaderElector({
      client: through,
      namespace,
      name,
      identity,
      clock: systemClock,
      ...times,
      onElected: () => log.push(`${identity} leads`),
      onLost: () => log.push(`${identity} lost`),
    });
    const running = elector.run(end.signal);
    const stop = async (): Promise<void> => {
      end.abort();
      await running;
    };
    cleanups.push(stop);
    return { elector, stop };
  }

  test('hands over when the leader stops, without waiting for the Lease to expire', async () => {
    const log: string[] = [];
    const first = campaign('handover', 'first', log, client, LONG);
    await until(() => first.elector.leading());
    const second = campaign('handover', 'second', log, client, LONG);
    const before = await client.get(Lease, { namespace, name: 'handover' });
    expect(before.spec?.holderIdentity).toBe('first');
    expect(second.elector.leading()).toBe(false);

    const stopped = performance.now();
    await first.stop();
    await until(() => second.elector.leading());
    expect(performance.now() - stopped).toBeLessThan(LONG.renewDeadlineMs);
    expect(log).toEqual(['first leads', 'second leads']);
    const after = await client.get(Lease, { namespace, name: 'handover' });
    expect(after.spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  });

  test('stops a leader that loses the API server before another one starts', async () => {
    const config = loadConfig({ path: cluster.kubeconfigPath });
    const proxy = await startTcpProxy(Number(new URL(config.server).port || 443));
    cleanups.push(() => proxy.close());
    const cutOff = connect({ ...config, server: `https://127.0.0.1:${proxy.port}` });
    cleanups.push(() => cutOff.close());

    const log: string[] = [];
    const first = campaign('cut', 'first', log, cutOff);
    await until(() => first.elector.leading());
    const second = campaign('cut', 'second', log);
    proxy.freeze();
    const overlaps: boolean[] = [];
    await until(() => {
      overlaps.push(first.elector.leading() && second.elector.leading());
      return second.elector.leading();
    });
    expect(overlaps).not.toContain(true);
    expect(log).toEqual(['first leads', 'first lost', 'second leads']);
  });

  describe('Events', () => {
    test('that repeat become one with a count, which other clients find by object', async () => {
      const regarding = await client.create(configMaps, configMap(namespace, 'subject'));
      const errors: unknown[] = [];
      const recorder = new EventRecorder({
        client,
        clock: systemClock,
        controller: 'offshoot-test',
        onError: (error) => errors.push(error),
      });
      const draft = { regarding, action: 'Test', reason: 'Repeated', note: 'again' } as const;
      for (let count = 0; count < 5; count++) recorder.record({ ...draft, type: 'Normal' });
      recorder.record({ ...draft, type: 'Warning', reason: 'Once', note: 'something else' });
      await recorder.flush();
      expect(errors).toEqual([]);

      const { items } = await client.list(Event, { namespace });
      const mine = items.filter((event) => event.regarding.name === 'subject');
      expect(Object.fromEntries(mine.map(({ reason, series }) => [reason, series?.count]))).toEqual({
        Once: undefined,
        Repeated: 5,
      });
      expect(mine).toHaveLength(2);
      const core = defineKind('v1', 'Event', 'events');
      const selector = `involvedObject.uid=${regarding.metadata.uid},type=Warning`;
      const shown = await client.list(core, { namespace, fieldSelector: selector });
      expect(shown.items.map((event) => event['message'])).toEqual(['something else']);
    });
  });
});
