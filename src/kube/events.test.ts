import { describe, expect, it } from 'vitest';
import { apiError, FakeClient } from '../../test/support/fake-client.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { Event, EventRecorder } from './events.ts';
import type { EventInput } from './events.ts';

const shop = {
  apiVersion: 'riskified.com/v1alpha1',
  kind: 'DynamicEnv',
  metadata: { name: 'shop', namespace: 'team', uid: 'u1', resourceVersion: '7' },
};
const ready: EventInput = { regarding: shop, type: 'Normal', reason: 'Ready', action: 'Route', note: 'All is well.' };

function setup() {
  const client = new FakeClient();
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const recorder = new EventRecorder({
    client,
    clock,
    controller: 'offshoot',
    instance: 'pod-1',
    onError: (error) => errors.push(error),
  });
  const written = () => client.state(Event) as unknown as Event[];
  return { client, clock, recorder, errors, written };
}

describe('EventRecorder', () => {
  it('creates an event in the namespace of the object that it is about', async () => {
    const { recorder, written } = setup();
    recorder.record(ready);
    await recorder.flush();
    expect(written()).toHaveLength(1);
    expect(written()[0]).toMatchObject({
      metadata: { name: expect.stringMatching(/^shop\.[0-9a-f]{16}$/), namespace: 'team' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      type: 'Normal',
      reason: 'Ready',
      action: 'Route',
      note: 'All is well.',
      regarding: { kind: 'DynamicEnv', name: 'shop', namespace: 'team', uid: 'u1' },
      reportingController: 'offshoot',
      reportingInstance: 'pod-1',
    });
    expect(written()[0]).not.toHaveProperty('series');
  });

  it('puts events of cluster-scoped objects into the namespace default', async () => {
    const { recorder, written } = setup();
    recorder.record({ ...ready, regarding: { ...shop, metadata: { name: 'node' } } });
    await recorder.flush();
    expect(written()[0]!.metadata.namespace).toBe('default');
  });

  it('counts a repeated event in one series, also for a later version of the object', async () => {
    const { recorder, clock, written } = setup();
    recorder.record(ready);
    await recorder.flush();
    await clock.advance(1000);
    recorder.record(ready);
    recorder.record({ ...ready, regarding: { ...shop, metadata: { ...shop.metadata, resourceVersion: '8' } } });
    await recorder.flush();
    expect(written()).toHaveLength(1);
    expect(written()[0]!.series).toEqual({ count: 3, lastObservedTime: '2026-01-01T00:00:01.000000Z' });
  });

  it('starts a new series after the window, and for anything that differs', async () => {
    const { recorder, clock, written } = setup();
    recorder.record(ready);
    recorder.record({ ...ready, note: 'Another note.' });
    recorder.record({ ...ready, regarding: { ...shop, metadata: { ...shop.metadata, uid: 'u2' } } });
    await clock.advance(6 * 60_000 + 1);
    recorder.record(ready);
    await recorder.flush();
    expect(written()).toHaveLength(4);
  });

  it('writes at most 25 times at once for one object and reason, then once every five minutes', async () => {
    const { recorder, clock, client } = setup();
    for (let i = 0; i < 40; i++) recorder.record({ ...ready, note: `note ${i}` });
    recorder.record({ ...ready, regarding: { ...shop, metadata: { ...shop.metadata, name: 'other', uid: 'u9' } } });
    await recorder.flush();
    expect(client.requests).toHaveLength(26);
    expect(recorder.counts.dropped).toBe(15);
    await clock.advance(5 * 60_000);
    recorder.record({ ...ready, note: 'one more' });
    recorder.record({ ...ready, note: 'one too many' });
    await recorder.flush();
    expect(client.requests).toHaveLength(27);
  });

  it('still records other reasons of an object that exceeds the limit for one', async () => {
    const { recorder, written } = setup();
    for (let i = 0; i < 40; i++) recorder.record({ ...ready, note: `note ${i}` });
    recorder.record({ ...ready, type: 'Warning', reason: 'Stuck', note: 'All is lost.' });
    await recorder.flush();
    expect(written().map(({ note }) => note)).toContain('All is lost.');
  });

  it('writes a count that was held back when it is flushed', async () => {
    const { recorder, client, written } = setup();
    for (let i = 0; i < 100; i++) {
      recorder.record(ready);
      await recorder.flush();
    }
    expect(written()[0]!.series!.count).toBe(100);
    const before = client.requests.length;
    await recorder.flush();
    expect(client.requests).toHaveLength(before);
  });

  it('continues as a new event when the server has deleted the old one', async () => {
    const { recorder, client, written } = setup();
    recorder.record(ready);
    await recorder.flush();
    const { name } = written()[0]!.metadata;
    await client.delete(Event, { name, namespace: 'team' });
    recorder.record(ready);
    await recorder.flush();
    expect(written()).toHaveLength(1);
    expect(written()[0]).toMatchObject({ series: { count: 2 } });
    expect(written()[0]!.metadata.name).not.toBe(name);
  });

  it('counts and reports failures, and never throws', async () => {
    const { recorder, client, errors, written } = setup();
    const refused = apiError(403, 'Forbidden');
    client.next('create', refused);
    recorder.record(ready);
    await recorder.flush();
    expect(errors).toEqual([refused]);
    expect(recorder.counts.failed).toBe(1);
    recorder.record(ready);
    await recorder.flush();
    expect(written()).toHaveLength(1);
  });

  it('does not delay a stop when the server does not answer', async () => {
    const { recorder, client, clock } = setup();
    client.next('create', () => new Promise(() => {}));
    recorder.record(ready);
    let flushed = false;
    const flushing = recorder.flush().then(() => (flushed = true));
    await clock.advance(4_999);
    expect(flushed).toBe(false);
    await clock.advance(1);
    await flushing;
    expect(clock.pending).toBe(0);
  });

  it('truncates a long note to 1 kB without breaking a character', async () => {
    const { recorder, written } = setup();
    recorder.record({ ...ready, note: 'ü'.repeat(2000) });
    await recorder.flush();
    const { note } = written()[0]!;
    expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
    expect(note).toMatch(/^ü{510}…$/);
  });

  it('creates a valid name for an object with the longest possible name', async () => {
    const { recorder, written } = setup();
    recorder.record({
      ...ready,
      regarding: { ...shop, metadata: { ...shop.metadata, name: `${'a'.repeat(235)}.b${'c'.repeat(16)}` } },
    });
    await recorder.flush();
    expect(written()[0]!.metadata.name).toMatch(/^a{235}\.[0-9a-f]{16}$/);
  });
});
