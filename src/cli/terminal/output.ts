// Prints results for programs: JSON and YAML that kubectl reads back as it was meant, and names.
import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/objects.ts';

// Not in TypeScript's library yet.
const native = JSON as unknown as { rawJSON(text: string): unknown };

/** A value as indented JSON; integers of any size stay exact. */
function jsonText(value: unknown): string {
  const exact = (_key: string, part: unknown): unknown =>
    typeof part === 'bigint' ? native.rawJSON(String(part)) : part;
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** A value as YAML that readers of YAML 1.1, kubectl among them, take for the same. */
export function yamlText(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/** A value in one of both formats. */
export function dataText(format: 'json' | 'yaml', value: unknown): string {
  return format === 'json' ? jsonText(value) : yamlText(value);
}

/** Objects as `kubectl get` prints them: one alone, several as a List. */
export function objectsText(format: 'json' | 'yaml', objects: readonly KubeObject[], asList: boolean): string {
  const items = objects.map(withoutManagedFields);
  return dataText(format, asList ? { apiVersion: 'v1', kind: 'List', metadata: {}, items } : items[0]);
}

/** One object or, with a type, the event that a watch tells of it, as `kubectl get --output-watch-events` prints it. */
export function objectText(format: 'json' | 'yaml', object: KubeObject, type?: string): string {
  const shown = withoutManagedFields(object);
  return dataText(format, type === undefined ? shown : { type, object: shown });
}

/** `dynamicenv.riskified.com/feature`. */
export function nameText({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${kind.toLowerCase()}${group}/${metadata.name}`;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _bookkeeping, ...metadata } = object.metadata;
  return { ...object, metadata };
}
