// Recent Events of an object, shown at the end of its description.
import { Event } from '../../kube/events.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { ObjectReader } from './reader.ts';

export interface RecentEvent {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

const RECENT = 8;

/** The Events about an object, latest last; none if we may not read them. */
export function eventsAbout(read: ObjectReader, { kind, metadata }: KubeObject): readonly Event[] {
  const fieldSelector = `regarding.kind=${kind},regarding.name=${metadata.name}`;
  const events = read.list(Event, { namespace: metadata.namespace!, fieldSelector });
  return latestLast(events.filter(({ regarding }) => regarding.uid === undefined || regarding.uid === metadata.uid));
}

/** Sorts Events by when they were last seen. */
export function latestLast(events: readonly Event[]): readonly Event[] {
  return [...events].sort((a, b) => (lastSeen(a) < lastSeen(b) ? -1 : 1));
}

/** The last few of sorted Events. */
export function recentEvents(events: readonly Event[]): readonly RecentEvent[] {
  return events
    .slice(-RECENT)
    .map((event) => ({ time: lastSeen(event), type: event.type, reason: event.reason, note: event.note }));
}

function lastSeen(event: Event): string {
  return event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
}
