// The lines of a watch: events in the form that the watcher wants, bookmarks and errors. In protobuf they are frames.
import { apiVersionOf } from '../registry.ts';
import type { Stored } from '../store/types.ts';
import { servedObject } from '../conversion/forms.ts';
import type { Status } from './fault.ts';
import { encodeEvent } from '../protobuf/encode.ts';
import { encoded, json, objectBody } from './represent.ts';
import type { View } from './represent.ts';
import { tableOf } from './table.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch, in pieces: the object's bytes are shared with everybody who reads it, never copied here. */
export type Line = readonly Buffer[];

const closing = Buffer.from('}\n');
const openings = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

const shared = {
  ADDED: new WeakMap<Buffer, Line>(),
  MODIFIED: new WeakMap<Buffer, Line>(),
  DELETED: new WeakMap<Buffer, Line>(),
};

/** Makes the lines of events for one watcher. All who watch plain objects in JSON get the same line. */
export function eventLines(view: View): (type: EventType, stored: Stored) => Line {
  const { as, protobuf } = view.format;
  if (as === 'Table') return tableLines(view);
  if (protobuf) return (type, stored) => encodeEvent(type, objectBody(stored, view));
  if (as !== '') return (type, stored) => [openings[type], objectBody(stored, view), closing];
  return (type, stored) => {
    const body = objectBody(stored, view);
    let line = shared[type].get(body);
    if (line === undefined) shared[type].set(body, (line = [openings[type], body, closing]));
    return line;
  };
}

/** Only the first table of a watch says what its columns are. */
function tableLines(view: View): (type: EventType, stored: Stored) => Line {
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
    return line(type, shown, false);
  };
}

/** Tells how far the watcher has come; the one that ends the initial events says so. */
export function bookmarkLine(view: View, version: number, initialEnd: boolean): Line {
  const { resource, format } = view;
  const annotations = initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
  const metadata = { resourceVersion: String(version), ...annotations };
  if (format.as === 'Table') {
    const table = { kind: 'Table', apiVersion: `meta.k8s.io/${format.version}`, columnDefinitions: null };
    const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${format.version}`, metadata };
    return line('BOOKMARK', { ...table, metadata, rows: [{ cells: [], object }] }, false);
  }
  if (format.as === 'PartialObjectMetadata') {
    const apiVersion = `meta.k8s.io/${format.version}`;
    return line('BOOKMARK', { kind: format.as, apiVersion, metadata }, format.protobuf);
  }
  return line('BOOKMARK', { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }, format.protobuf);
}

export function errorLine(status: Status, { format }: View): Line {
  return line('ERROR', status, format.protobuf);
}

function line(type: string, object: object, protobuf: boolean): Line {
  if (protobuf) return encodeEvent(type, encoded(object, true));
  return [Buffer.concat([json({ type, object }), Buffer.from('\n')])];
}
