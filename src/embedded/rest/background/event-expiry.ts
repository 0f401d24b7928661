// Deletes Events an hour after they were last seen. Started by server.ts.
import type { AnyObject } from '../../../kube/objects.ts';
import type { Store } from '../../store/store.ts';
import { VersionConflict } from '../../store/types.ts';
import { part } from '../rules/types.ts';

const ttlMs = 60 * 60_000;
const intervalMs = 5 * 60_000;
const collection = 'events';

/** Removes old Events periodically until the returned function is called. */
export function expireEvents(store: Store, onError: (error: unknown) => void): () => void {
  const timer = setInterval(() => {
    removeOldEvents(store, Date.now()).catch(onError);
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

/** Removes the Events that have expired at `now`. */
export async function removeOldEvents(store: Store, now: number): Promise<void> {
  const old = store.list(collection).filter(({ object }) => now - lastSeen(object) > ttlMs);
  const removals = old.map(async ({ key, version }) => {
    try {
      await store.write({ collection, key, expect: version, next: undefined });
    } catch (error) {
      // The Event was updated or removed meanwhile.
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
