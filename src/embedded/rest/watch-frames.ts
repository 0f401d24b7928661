// The lines of a watch. The line of an event is made once and shared by all watchers that want it in the same form.
import { apiVersionOf } from '../registry.ts';
import type { Stored } from '../store/types.ts';
import { servedObject } from './conversion.ts';
import type { Status } from './fault.ts';
import { json, objectBody } from './represent.ts';
import type { View } from './represent.ts';
import { tableOf } from './table.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const shared = new WeakMap<Stored, Map<string, Buffer>>();
const closing = Buffer.from('}\n');

/** Makes the lines of events for one watcher. */
export function eventFrames(view: View): (type: EventType, stored: Stored) => Buffer {
  if (view.format.as === 'Table') return tableFrames(view);
  const form = `${apiVersionOf(view.resource)} ${view.format.as}`;
  return (type, stored) => {
    let lines = shared.get(stored);
    if (lines === undefined) shared.set(stored, (lines = new Map()));
    const name = `${type} ${form}`;
    let line = lines.get(name);
    if (line === undefined) {
      line = Buffer.concat([Buffer.from(`{"type":"${type}","object":`), objectBody(stored, view), closing]);
      lines.set(name, line);
    }
    return line;
  };
}

/** Only the first table of a watch says what its columns are. */
function tableFrames(view: View): (type: EventType, stored: Stored) => Buffer {
  let first = true;
  return (type, stored) => {
    const object = servedObject(stored, view.resource);
    const { columnDefinitions, ...table } = tableOf(
      [object],
      { resourceVersion: object.metadata.resourceVersion ?? '' },
      view,
    );
    const shown = first ? { ...table, columnDefinitions } : { ...table, columnDefinitions: null };
    first = false;
    return line(type, shown);
  };
}

/** Tells how far the watcher has come; the one that ends the initial events says so. */
export function bookmarkFrame(view: View, version: number, initialEnd: boolean): Buffer {
  const { resource, format } = view;
  const annotations = initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(version), creationTimestamp: null, ...annotations };
  if (format.as === 'Table') {
    const table = { kind: 'Table', apiVersion: `meta.k8s.io/${format.version}`, columnDefinitions: null };
    const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${format.version}`, metadata };
    return line('BOOKMARK', { ...table, metadata, rows: [{ cells: [], object }] });
  }
  if (format.as === 'PartialObjectMetadata') {
    return line('BOOKMARK', { kind: format.as, apiVersion: `meta.k8s.io/${format.version}`, metadata });
  }
  return line('BOOKMARK', { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata });
}

export function errorFrame(status: Status): Buffer {
  return line('ERROR', status);
}

function line(type: string, object: unknown): Buffer {
  return Buffer.concat([json({ type, object }), Buffer.from('\n')]);
}
