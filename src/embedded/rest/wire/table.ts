// Tables for `kubectl get`: the columns of a kind and one row per object.
import type { AnyObject } from '../../../kube/objects.ts';
import type { PrinterColumn } from '../../resource.ts';
import type { ListMeta, View } from './represent.ts';

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly object[];
  readonly rows: readonly object[];
}

/** A `meta.k8s.io` Table of objects. */
export function tableOf(objects: readonly AnyObject[], metadata: ListMeta, view: View): Table {
  const now = Date.now();
  const { columns } = view.resource;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${view.format.version}`,
    metadata,
    columnDefinitions: columns.map(columnDefinition),
    rows: objects.map((object) => rowOf(object, columns, view, now)),
  };
}

function columnDefinition(column: PrinterColumn): object {
  const { name, type, format = '', description = '', priority = 0 } = column;
  return { name, type, format, description, priority };
}

function rowOf(object: AnyObject, columns: readonly PrinterColumn[], view: View, now: number): object {
  const cells = columns.map((column) => columnValue(column, object, now));
  if (view.includeObject === 'None') return { cells, object: null };
  if (view.includeObject === 'Object') return { cells, object };
  const apiVersion = `meta.k8s.io/${view.format.version}`;
  return { cells, object: { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata } };
}

function columnValue(column: PrinterColumn, object: AnyObject, now: number): unknown {
  return typeof column.value === 'function' ? column.value(object, now) : null;
}
