// The API paths of objects and collections. Called by connect.ts.
import { ApiError } from '../errors.ts';
import type { AnyKind, Ref } from '../objects.ts';

/** The path of a kind's objects: in one namespace, or in all. */
export function collectionPath(kind: AnyKind, namespace?: string): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const within = kind.namespaced && namespace ? `/namespaces/${segment(kind, 'namespace', namespace)}` : '';
  return `${root}${within}/${kind.plural}`;
}

/** The path of one object. Rejects a missing name or namespace, and a path inside a name. */
export function objectPath(kind: AnyKind, ref: Ref, subresource?: string): string {
  if (kind.namespaced && !ref.namespace) throw invalid(kind, `namespace is missing (name '${ref.name}')`);
  const path = `${collectionPath(kind, ref.namespace)}/${segment(kind, 'name', ref.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** A path with its query; parameters that are undefined are left out. */
export function withQuery(
  path: string,
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value!)}`);
  return query.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${query.join('&')}`;
}

function segment(kind: AnyKind, field: string, value: string): string {
  if (!value || value === '.' || value === '..' || /[/%]/.test(value)) {
    throw invalid(kind, `'${value ?? ''}' is not a ${field}`);
  }
  return encodeURIComponent(value);
}

function invalid(kind: AnyKind, what: string): ApiError {
  return new ApiError(`${kind.kind}: ${what}`, { code: 0, reason: 'InvalidRequest' });
}
