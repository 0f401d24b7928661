import { expect, test } from 'vitest';
import { Store } from '../../store/store.ts';
import { removeOldEvents } from './event-expiry.ts';

test('events are removed an hour after they were last seen', async () => {
  const store = new Store();
  const put = (name: string, more: object): Promise<unknown> => {
    const metadata = { name, namespace: 'a', creationTimestamp: '2026-01-01T00:00:00Z' };
    const next = { apiVersion: 'v1', kind: 'Event', metadata, ...more };
    return store.write({ collection: 'events', key: `a/${name}`, expect: 0, next });
  };
  await put('once', {});
  await put('repeated', { lastTimestamp: '2026-01-01T00:30:00Z' });
  await put('series', { series: { count: 2, lastObservedTime: '2026-01-01T00:40:00.000000Z' } });
  await removeOldEvents(store, Date.parse('2026-01-01T01:00:00Z'));
  expect(store.count('events')).toBe(3);
  await removeOldEvents(store, Date.parse('2026-01-01T01:30:01Z'));
  expect(store.list('events').map(({ key }) => key)).toEqual(['a/series']);
});
