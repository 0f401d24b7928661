// Encodes watch events, bookmarks and errors in the format that the watcher accepts: JSON lines or protobuf frames.
import { apiVersionOf } from '../../registry.ts';
import type { Stored } from '../../store/types.ts';
import { servedObject } from '../../conversion/forms.ts';
import type { Status } from '../fault.ts';
import { encodeEvent } from '../../protobuf/encode.ts';
import { encoded, json, objectBody } from '../wire/represent.ts';
import type { View } from '../wire/represent.ts';
import { tableOf } from '../wire/table.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One line of a watch, in pieces: all watchers share the bytes of the object. */
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

/** Encodes events for one watcher. Watchers of plain JSON objects share the lines. */
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

/** Only the first table of a watch has column definitions. */
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

/** A bookmark with the current resource version; the one after the initial events has an annotation. */
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
