// The Events that controllers record on their objects, for `kubectl describe`.
import { timestamp, microTime } from '../../kube/times.ts';
import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../../kube/objects.ts';
import type { NewObject } from './writes.ts';

/** An Event to record on an object after a write succeeded. */
export interface PlannedEvent {
  readonly about: KubeObject;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** Called with the name of the written object, which for a creation may be generated. */
  readonly message: (name: string) => string;
}

/** Builds the Event object. The scheduler writes the fields of events.k8s.io/v1. */
export function eventOf(planned: PlannedEvent, name: string, component: string, now: number): NewObject {
  const { apiVersion, kind, metadata } = planned.about;
  const { namespace = 'default', uid, resourceVersion } = metadata;
  const time = timestamp(now);
  const isEventsV1 = component === 'default-scheduler';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${metadata.name}.${randomBytes(8).toString('hex')}`, namespace },
    involvedObject: { apiVersion, kind, name: metadata.name, namespace, uid, resourceVersion },
    type: planned.type,
    reason: planned.reason,
    message: planned.message(name),
    ...(isEventsV1
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
