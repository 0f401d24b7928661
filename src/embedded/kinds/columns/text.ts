// How the API server formats the cells of its tables: ages, selectors, lists that end in "more...".
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { at, objects, stringMap, strings, text } from '../read.ts';

type Cell = string | number | boolean | null;

export function column(
  name: string,
  type: PrinterColumn['type'],
  value: (object: ApiObject, now: number) => Cell,
  extra: { readonly priority?: number; readonly format?: string } = {},
): PrinterColumn {
  return { name, type, value, ...extra };
}

/** A column that only `-o wide` shows. */
export function wide(name: string, value: (object: ApiObject, now: number) => Cell): PrinterColumn {
  return column(name, 'string', value, { priority: 1 });
}

export const nameColumn: PrinterColumn = column('Name', 'string', (object) => text(object, 'metadata', 'name'), {
  format: 'name',
});

export const ageColumn: PrinterColumn = column('Age', 'string', (object, now) =>
  since(at(object, 'metadata', 'creationTimestamp'), now),
);

/** The columns of kinds without columns of their own. */
export const plainColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Created At', 'date', (object) => text(object, 'metadata', 'creationTimestamp')),
];

/** A duration in one or two units; the longer it is, the coarser. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.trunc(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(minutes / 60);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (hours < 24 * 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${days}d`;
  const years = Math.trunc(days / 365);
  return hours < 24 * 365 * 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}

/** How long ago a timestamp was. */
export function since(timestamp: unknown, now: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now - then);
}

/** `a=1,b=2`, or `<none>`. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? '<none>' : pairs.sort().join(',');
}

/** A label selector in the notation of `kubectl -l`; empty for one that selects everything. */
export function selectorText(selector: unknown): string {
  const parts: [string, string][] = Object.entries(stringMap(selector, 'matchLabels')).map(([key, value]) => [
    key,
    `${key}=${value}`,
  ]);
  for (const expression of objects(selector, 'matchExpressions')) {
    const key = text(expression, 'key');
    const values = [...strings(expression, 'values')].sort().join(',');
    const operator = text(expression, 'operator');
    if (operator === 'In') parts.push([key, `${key} in (${values})`]);
    else if (operator === 'NotIn') parts.push([key, `${key} notin (${values})`]);
    else if (operator === 'Exists') parts.push([key, key]);
    else if (operator === 'DoesNotExist') parts.push([key, `!${key}`]);
  }
  return parts
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, part]) => part)
    .join(',');
}

/** A label selector for a table cell. */
export function formatSelector(selector: unknown): string {
  if (selector === undefined || selector === null) return '<none>';
  return selectorText(selector) || '<none>';
}

/** At most `most` items, followed by the number of items left out. */
export function listWithMore(items: readonly string[], most: number, separator = ','): string {
  const shown = items.slice(0, most).join(separator);
  return items.length > most ? `${shown} + ${items.length - most} more...` : shown;
}

/** The wide columns of kinds with a pod template. */
export function templateColumns(...template: readonly string[]): readonly PrinterColumn[] {
  const join = (object: ApiObject, field: string): string =>
    objects(object, ...template, 'spec', 'containers')
      .map((container) => text(container, field))
      .join(',');
  return [wide('Containers', (object) => join(object, 'name')), wide('Images', (object) => join(object, 'image'))];
}

/** A column with the value of a numeric field; 0 when absent. */
export function counter(name: string, ...path: readonly string[]): PrinterColumn {
  return column(name, 'integer', (object) => Number(at(object, ...path) ?? 0));
}
