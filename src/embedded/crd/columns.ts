// The printer columns of custom resources.
import { stringifyJson } from '../../kube/json.ts';
import { nameColumn, since } from '../kinds/columns/text.ts';
import { numberAt, objects, text } from '../kinds/read.ts';
import type { ApiObject, PrinterColumn } from '../resource.ts';
import { compileJsonPath } from './jsonpath.ts';

type Cell = string | number | boolean | null;

/** The columns of one version: the name, then additionalPrinterColumns or, without any, the age. */
export function customColumns(version: ApiObject): readonly PrinterColumn[] {
  const own = objects(version, 'additionalPrinterColumns');
  const columns = own.length > 0 ? own : [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];
  return [nameColumn, ...columns.map(customColumn)];
}

function customColumn(column: ApiObject): PrinterColumn {
  let path: ReturnType<typeof compileJsonPath> | undefined;
  const type = text(column, 'type') as PrinterColumn['type'];
  const format = text(column, 'format');
  const description = text(column, 'description');
  const priority = numberAt(column, 'priority') ?? 0;
  return {
    name: text(column, 'name'),
    type,
    ...(format !== '' && { format }),
    ...(description !== '' && { description }),
    ...(priority !== 0 && { priority }),
    value: (object, now) => {
      path ??= compileJsonPath(text(column, 'jsonPath'));
      return cell(type, path(object)[0], now);
    },
  };
}

/** A value of another type than the column's leaves the cell empty. */
function cell(type: PrinterColumn['type'], value: unknown, now: number): Cell {
  if (value === undefined || value === null) return null;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  if (type === 'string') return typeof value === 'string' ? value : stringifyJson(value);
  if (type === 'integer') return isNumber ? Math.trunc(Number(value)) : null;
  if (type === 'number') return isNumber ? Number(value) : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? since(value, now) : null;
}
