// What happened to an object recently: the Events that a description ends with.
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

/** The Events about an object, the latest last; none where they may not be read. */
export function eventsAbout(read: ObjectReader, { kind, metadata }: KubeObject): readonly Event[] {
  const fieldSelector = `regarding.kind=${kind},regarding.name=${metadata.name}`;
  const events = read.list(Event, { namespace: metadata.namespace!, fieldSelector });
  return latestLast(events.filter(({ regarding }) => regarding.uid === undefined || regarding.uid === metadata.uid));
}

/** Events by when they were last seen. */
export function latestLast(events: readonly Event[]): readonly Event[] {
  return [...events].sort((a, b) => (lastSeen(a) < lastSeen(b) ? -1 : 1));
}

/** The last few of Events that are in order. */
export function recentEvents(events: readonly Event[]): readonly RecentEvent[] {
  return events
    .slice(-RECENT)
    .map((event) => ({ time: lastSeen(event), type: event.type, reason: event.reason, note: event.note }));
}

function lastSeen(event: Event): string {
  return event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
}
