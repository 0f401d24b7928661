// What happened to an object of late: the Events that the `describe` commands end with.
import type { Client } from '../../kube/client/client.ts';
import { Event } from '../../kube/events.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { Paint } from '../terminal/colour.ts';
import { listAll } from './follow.ts';
import { readable } from './readable.ts';
import { age } from '../terminal/table.ts';

export interface RecentEvent {
  readonly time: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
}

const RECENT = 8;

/** The Events about an object, the latest last; none where they may not be read. */
export async function eventsAbout(client: Client, { kind, metadata }: KubeObject): Promise<readonly Event[]> {
  const fieldSelector = `regarding.kind=${kind},regarding.name=${metadata.name}`;
  const events = await readable(listAll(client, Event, { namespace: metadata.namespace!, fieldSelector }));
  return inOrder(
    (events ?? []).filter(({ regarding }) => regarding.uid === undefined || regarding.uid === metadata.uid),
  );
}

/** Events by when they were last seen, the latest last. */
export function inOrder(events: readonly Event[]): readonly Event[] {
  return [...events].sort((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
}

/** The last few of events that are in order. */
export function recentOf(events: readonly Event[]): readonly RecentEvent[] {
  return events
    .slice(-RECENT)
    .map((event) => ({ time: timeOf(event), type: event.type, reason: event.reason, note: event.note }));
}

/** Events as lines of text, after an empty line and a heading. */
export function eventLines(events: readonly RecentEvent[], paint: Paint, now: number): string[] {
  if (events.length === 0) return [];
  const lines = events.map(({ time, type, reason, note }) => {
    const when = age(time, now).padStart(5);
    return `  ${paint('quiet', when)}  ${paint(type === 'Warning' ? 'bad' : 'plain', reason)}  ${note}`;
  });
  return ['', 'Events', ...lines];
}

/** When an event was last seen. */
function timeOf(event: Event): string {
  return event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? '';
}
