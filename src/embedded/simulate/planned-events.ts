// The Events that controllers leave on what they work on, so that `kubectl describe` tells the story.
import { timestamp, microTime } from '../../kube/times.ts';
import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../../kube/objects.ts';
import type { NewObject } from './writes.ts';

/** What to tell about an object once a write is done. */
export interface PlannedEvent {
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** The text; of a creation, with the name that the object got. */
  readonly message: (name: string) => string;
}

/** The Event for a note. The scheduler's Events are of the newer form. */
export function eventOf(note: PlannedEvent, name: string, component: string, now: number): NewObject {
  const { apiVersion, kind, metadata } = note.about;
  const { namespace = 'default', uid, resourceVersion } = metadata;
  const time = timestamp(now);
  const modern = component === 'default-scheduler';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${metadata.name}.${randomBytes(8).toString('hex')}`, namespace },
    involvedObject: { apiVersion, kind, name: metadata.name, namespace, uid, resourceVersion },
    type: note.type,
    reason: note.reason,
    message: note.message(name),
    ...(modern
      ? {
          source: {},
          eventTime: microTime(now),
          action: 'Binding',
          reportingInstance: component,
        }
      : { source: { component }, firstTimestamp: time, lastTimestamp: time, count: 1, reportingInstance: '' }),
    reportingComponent: component,
  };
}
