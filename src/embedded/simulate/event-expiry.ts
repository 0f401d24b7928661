// Events do not last: an hour after their last change they are removed.
import type { KubeObject } from '../../kube/objects.ts';
import type { Controller } from './loop.ts';
import { controllerManager, deleteOf } from './writes.ts';
import type { Write } from './writes.ts';

const eventLifeMs = 3600_000;

/** Removes old Events. It looks when a new one comes, so that nothing ticks in between. */
export function eventController(): Controller {
  const changed = new Map<string, number>();
  const oldest = 'oldest';
  return {
    name: 'event-expiry',
    writer: controllerManager('event-expiry'),
    on: {
      events: ({ type, stored }, world) => {
        changed.delete(stored.key);
        if (type !== 'DELETED') changed.set(stored.key, world.now());
        const [first] = changed.values();
        return first !== undefined && first + eventLifeMs <= world.now() ? [oldest] : [];
      },
    },
    plan: (world) => {
      const writes: Write[] = [];
      // A Map keeps the order in which keys were set, so the oldest come first.
      for (const [key, time] of changed) {
        if (time + eventLifeMs > world.now()) break;
        const event = world.get<KubeObject>('events', key);
        if (event !== undefined) writes.push(deleteOf(event));
        changed.delete(key);
      }
      return { writes };
    },
  };
}
