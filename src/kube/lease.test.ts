import { describe, expect, it } from 'vitest';
import { apiError, FakeClient } from '../../test/support/fake-client.ts';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { delay } from './clock.ts';
import { LeaderElector, Lease } from './lease.ts';
import type { LeaderElectorOptions } from './lease.ts';

const where = { namespace: 'offshoot', name: 'leader' };

/** One process that wants to lead. */
function process(client: FakeClient, clock: FakeClock, options: Partial<LeaderElectorOptions> = {}) {
  const log: string[] = [];
  const abort = new AbortController();
  const elector = new LeaderElector({
    client,
    clock,
    ...where,
    random: () => 0,
    onElected: () => log.push('elected'),
    onLost: () => log.push('lost'),
    onError: (error) => log.push(`error: ${(error as Error).message}`),
    ...options,
  });
  const done = elector.run(abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort(new Error('stop'));
    await done;
  };
  return { elector, log, stop, done };
}

/** A lease that another process holds. */
const leaseOf = (holderIdentity: string, namespace: string, spec: Lease['spec'] = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { ...where, namespace },
  spec: { holderIdentity, leaseDurationSeconds: 15, ...spec },
});

const leasesIn = (client: FakeClient, namespace: string) => (): Promise<readonly Lease[]> =>
  Promise.resolve((client.state(Lease) as Lease[]).filter(({ metadata }) => metadata.namespace === namespace));

/** No leases, but late; rejects when the signal aborts, as a real client does. */
async function noneAfter(clock: FakeClock, ms: number, signal: AbortSignal): Promise<readonly Lease[]> {
  await delay(clock, ms, signal);
  signal.throwIfAborted();
  return [];
}

const specOf = (client: FakeClient) => (client.state(Lease)[0] as unknown as Lease | undefined)?.spec;

describe('LeaderElector', () => {
  it('acquires a lease that nobody holds, and renews it every retry period', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    expect(a.log).toEqual(['elected']);
    expect(specOf(client)).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(a.elector.leading()).toBe(true);
    expect(specOf(client)).toMatchObject({
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
    });
    await a.stop();
  });

  it('waits while another holds the lease, and takes over when it was not renewed for its lease duration', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    // The other's clock is years ahead: that must not matter.
    await client.create(Lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...where, labels: { keep: 'me' } },
      spec: {
        holderIdentity: 'old',
        leaseDurationSeconds: 40,
        renewTime: '2099-01-01T00:00:00.000000Z',
        leaseTransitions: 3,
      },
    });
    const a = process(client, clock, { identity: 'a' });
    await clock.advance(39_000);
    expect(a.elector.leading()).toBe(false);
    await clock.advance(4_000);
    expect(a.log).toEqual(['elected']);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'a', leaseTransitions: 4 });
    expect(client.state(Lease)[0]!.metadata.labels).toEqual({ keep: 'me' });
    await a.stop();
  });

  it('waits while there is another holder elsewhere, and asks about it only while its own lease is free', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    let leases = [leaseOf('the original', 'gitops')];
    let asked = 0;
    const leasesElsewhere = (): Promise<readonly Lease[]> => (asked++, Promise.resolve(leases));
    const waited: string[] = [];
    const a = process(client, clock, { identity: 'a', leasesElsewhere, onWaiting: (other) => waited.push(other) });
    await clock.advance(10_000);
    expect([a.log, waited, client.state(Lease)]).toEqual([[], ['the original (Lease gitops/leader)'], []]);
    leases = [];
    await clock.advance(3_000);
    expect(a.log).toEqual(['elected']);
    const before = asked;
    await clock.advance(60_000);
    expect(asked).toBe(before);
    const b = process(client, clock, { identity: 'b', leasesElsewhere });
    await clock.advance(10_000);
    expect([asked, b.log]).toEqual([before, []]);
    await a.stop();
    await b.stop();
  });

  it('is acquired although each answer takes seconds', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const leasesElsewhere = (_lease: string, signal: AbortSignal): Promise<readonly Lease[]> =>
      noneAfter(clock, 3_000, signal);
    const a = process(client, clock, { leasesElsewhere });
    await clock.advance(6_000);
    expect(a.log).toEqual(['elected']);
    await a.stop();
  });

  it('is not held by two processes in different namespaces that start at the same time', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const [a, b] = [
      process(client, clock, { identity: 'a', namespace: 'one', leasesElsewhere: leasesIn(client, 'two') }),
      process(client, clock, {
        identity: 'b',
        namespace: 'two',
        leasesElsewhere: leasesIn(client, 'one'),
        random: () => 1,
      }),
    ];
    for (let seconds = 0; seconds < 30; seconds++) {
      await clock.advance(1_000);
      expect([a, b].filter(({ elector }) => elector.leading()).length).toBeLessThan(2);
    }
    expect([...a.log, ...b.log]).toEqual(['elected']);
    await a.stop();
    await b.stop();
  });

  it.each([
    ['behind', '2000-01-01T00:00:00.000000Z'],
    ['ahead', '2099-01-01T00:00:00.000000Z'],
  ])('waits for a holder elsewhere whose clock is %s, until that stops renewing', async (_clock, renewTime) => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    let renewals = 0;
    let renewing = true;
    const leasesElsewhere = (): Promise<readonly Lease[]> => {
      if (renewing) renewals++;
      return Promise.resolve([leaseOf('the original', 'gitops', { renewTime, leaseTransitions: renewals })]);
    };
    const a = process(client, clock, { identity: 'a', leasesElsewhere });
    await clock.advance(60_000);
    expect(a.log).toEqual([]);
    renewing = false;
    await clock.advance(14_000);
    expect(a.log).toEqual([]);
    await clock.advance(6_000);
    expect(a.log).toEqual(['elected']);
    await a.stop();
  });

  it('never has two leaders at once, and hands over on release without waiting for expiry', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    const b = process(client, clock, { identity: 'b' });
    for (let i = 0; i < 60; i++) {
      await clock.advance(500);
      expect(a.elector.leading() && b.elector.leading()).toBe(false);
    }
    expect(b.log).toEqual([]);
    await a.stop();
    expect(a.elector.leading()).toBe(false);
    expect(a.log).toEqual(['elected']);
    expect(specOf(client)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    await clock.advance(2_000);
    expect(b.log).toEqual(['elected']);
    await b.stop();
  });

  it('stops leading at the renew deadline, before anybody else can take over', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    const b = process(client, clock, { identity: 'b' });
    await settle();
    client.next('update', ...Array.from({ length: 5 }, () => apiError(500, 'InternalError')));
    await clock.advance(9_999);
    expect(a.elector.leading()).toBe(true);
    await clock.advance(1);
    expect(a.elector.leading()).toBe(false);
    expect(a.log.at(-1)).toBe('lost');
    expect(b.log).toEqual([]);
    await a.done;
    await clock.advance(10_000);
    expect(b.log.at(-1)).toBe('elected');
    await b.stop();
  });

  it('is not the leader after the event loop was blocked for longer than the deadline', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    clock.stall(9_999);
    expect(a.elector.leading()).toBe(true);
    clock.stall(1);
    expect(a.elector.leading()).toBe(false);
    await clock.advance(0);
    expect(a.log).toEqual(['elected', 'lost']);
    await a.done;
  });

  it('keeps the lease although one request is never answered', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    client.next('update', () => new Promise((_, reject) => hang(client, reject)));
    await clock.advance(7_500);
    expect(a.log).toEqual(['elected', 'error: no answer about the lease leader within 5000 ms']);
    await clock.advance(20_000);
    expect(a.elector.leading()).toBe(true);
    await a.stop();
  });

  it('ignores an answer that arrives too late', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    client.next('create', () => clock.stall(11_000));
    const a = process(client, clock, { identity: 'a' });
    await settle();
    expect(a.log).toEqual([]);
    await clock.advance(2_000);
    expect(a.log).toEqual(['elected']);
    await a.stop();
  });

  it('stops leading when it finds another holder in the lease', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    await client.patch(Lease, where, { type: 'merge', body: { spec: { holderIdentity: 'thief' } } });
    await clock.advance(2_000);
    expect(a.log).toEqual(['elected', 'lost']);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'thief' });
    await a.done;
  });

  it('keeps the lease although others edit or delete the object', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    await client.patch(Lease, where, { type: 'merge', body: { metadata: { annotations: { note: 'x' } } } });
    await clock.advance(2_000);
    expect(client.state(Lease)[0]!.metadata.annotations).toEqual({ note: 'x' });
    await client.delete(Lease, where);
    await clock.advance(2_000);
    expect(specOf(client)).toMatchObject({ holderIdentity: 'a' });
    expect(a.log).toEqual(['elected']);
    await a.stop();
  });

  it('releases the lease although the stop aborted a renewal', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    // A renewal that the server carried out, unknown to us, leaves another version.
    await client.patch(Lease, where, { type: 'merge', body: { spec: { renewTime: 'later' } } });
    await a.stop();
    expect(specOf(client)).toMatchObject({ holderIdentity: '' });
  });

  it('releases a lease that it has just acquired, although it stops before it leads', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const leasesElsewhere = (_lease: string, signal: AbortSignal): Promise<readonly Lease[]> =>
      client.state(Lease).length === 0 ? Promise.resolve([]) : noneAfter(clock, 60_000, signal);
    const a = process(client, clock, { leasesElsewhere });
    await settle();
    await a.stop();
    expect(specOf(client)).toMatchObject({ holderIdentity: '' });
    expect([a.log, a.elector.leading()]).toEqual([[], false]);
  });

  it('releases a lease once that it gave up for a holder elsewhere', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const leasesElsewhere = (): Promise<readonly Lease[]> =>
      Promise.resolve(client.state(Lease).length === 0 ? [] : [leaseOf('b', 'two')]);
    const a = process(client, clock, { leasesElsewhere });
    await settle();
    await a.stop();
    expect(client.requests.map(({ method }) => method)).toEqual(['get', 'create', 'update']);
    expect([a.log, specOf(client)?.holderIdentity]).toEqual([[], '']);
  });

  it('leaves no timer behind and writes nothing when it stops without the lease', async () => {
    const [client, clock] = [new FakeClient(), new FakeClock()];
    const a = process(client, clock, { identity: 'a' });
    await settle();
    const b = process(client, clock, { identity: 'b' });
    await clock.advance(5_000);
    const before = specOf(client);
    await b.stop();
    expect(specOf(client)).toEqual(before);
    await a.stop();
    expect(clock.pending).toBe(0);
  });

  it('rejects durations that allow two leaders', () => {
    const make = (durations: Partial<LeaderElectorOptions>) => (): LeaderElector =>
      new LeaderElector({
        client: new FakeClient(),
        clock: new FakeClock(),
        ...where,
        onElected() {},
        onLost() {},
        ...durations,
      });
    expect(make({ leaseDurationMs: 10_000 })).toThrow(
      'leaseDurationMs (10000) must be greater than renewDeadlineMs (10000)',
    );
    expect(make({ renewDeadlineMs: 2_400 })).toThrow('must be greater than 1.2 times retryPeriodMs (2000)');
    expect(make({})().identity).toMatch(/_[0-9a-f-]{36}$/);
  });
});

/** Ends a hanging request when its signal does, as a real client would. */
function hang(client: FakeClient, reject: (reason: unknown) => void): void {
  const { signal } = client.requests.at(-1)!.options as { signal: AbortSignal };
  signal.addEventListener('abort', () => reject(signal.reason));
}
