// Events are kept for an hour after they were last seen. Started by server.ts.
import type { AnyObject } from '../../kube/objects.ts';
import type { Store } from '../store/store.ts';
import { VersionConflict } from '../store/types.ts';
import { part } from './rules/types.ts';

const keptMs = 60 * 60_000;
const everyMs = 5 * 60_000;
const collection = 'events';

/** Removes old events from time to time until the returned function is called. */
export function expireEvents(store: Store, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => {
    removeOldEvents(store, Date.now()).catch(onError);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

/** Removes the events that were last seen too long before `now`. */
export async function removeOldEvents(store: Store, now: number): Promise<void> {
  const old = store.list(collection).filter(({ object }) => now - lastSeen(object) > keptMs);
  const removals = old.map(async ({ key, version }) => {
    try {
      await store.write({ collection, key, expect: version, next: undefined });
    } catch (error) {
      // It was seen again, or removed, in this very moment.
      if (!(error instanceof VersionConflict)) throw error;
    }
  });
  await Promise.all(removals);
}

function lastSeen(event: AnyObject): number {
  const times = [
    event.metadata.creationTimestamp,
    event['lastTimestamp'],
    event['eventTime'],
    part(event, 'series')['lastObservedTime'],
  ];
  return Math.max(...times.map((time) => (typeof time === 'string' ? Date.parse(time) : 0)));
}
