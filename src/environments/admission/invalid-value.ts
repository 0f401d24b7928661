// Formats an invalid value for an admission error: JSON with the fields in the order of their declaration, without
// empty optional ones. These texts are contract, so the order is fixed here. Called by validate.ts.

/** The fields of an object, in order. */
interface Struct {
  readonly [field: string]: Shape;
}
/** `map` sorts its keys; a list has one shape for its items; `keep` is printed even when it is empty. */
type Shape = 'optional' | 'keep' | 'pointer' | 'map' | Struct | readonly [Struct] | { readonly mapOf: Struct };

const stringMatch: Struct = { exact: 'optional', prefix: 'optional', regex: 'optional' };
const istioMatch: Struct = { headers: { mapOf: stringMatch }, sourceLabels: 'map' };
const keySelector: Struct = { name: 'optional', key: 'keep', optional: 'pointer' };
const envVar: Struct = {
  name: 'keep',
  value: 'optional',
  valueFrom: {
    fieldRef: { apiVersion: 'optional', fieldPath: 'keep' },
    resourceFieldRef: { containerName: 'optional', resource: 'keep', divisor: 'keep' },
    configMapKeyRef: keySelector,
    secretKeyRef: keySelector,
    fileKeyRef: { volumeName: 'keep', path: 'keep', key: 'keep', optional: 'pointer' },
  },
};
const overrides: Struct = { containerName: 'keep', image: 'optional', command: 'optional', env: [envVar] };
const subset: Struct = {
  name: 'keep',
  namespace: 'keep',
  podLabels: 'map',
  replicas: 'pointer',
  containers: [overrides],
  initContainers: [overrides],
  defaultVersion: 'optional',
};
const spec = { istioMatches: [istioMatch], subsets: [subset], consumers: [subset] } as const;

/** Formats a whole spec. */
export function formatSpec(value: unknown): string {
  const { key, istioMatches, subsets, consumers } = asFields(value);
  const optional = isEmpty(consumers) ? '' : `,"consumers":${list(consumers, subset)}`;
  return `{${isEmpty(key) ? '' : `"key":${scalar(key)},`}"istioMatches":${list(istioMatches, istioMatch)},"subsets":${list(subsets, subset)}${optional}}`;
}

/** Formats a list of the spec, or one subset of it. */
export const formatValue = {
  istioMatches: (value: unknown): string => list(value, spec.istioMatches[0]),
  subsets: (value: unknown): string => list(value, subset),
  subset: (value: unknown): string => struct(value, subset),
  containers: (value: unknown): string => list(value, overrides),
} as const;

function struct(value: unknown, shape: Struct): string {
  const fields = asFields(value);
  const parts = Object.entries(shape).flatMap(([name, of]) => {
    const text = field(fields[name], of);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${parts.join(',')}}`;
}

/** The text of a field, or undefined when it is left out. */
function field(value: unknown, shape: Shape): string | undefined {
  if (shape === 'keep') return scalar(value ?? '');
  if (shape === 'pointer') return value === undefined || value === null ? undefined : scalar(value);
  if (shape === 'optional') return isEmpty(value) ? undefined : scalar(value);
  if (shape === 'map') return isEmpty(value) ? undefined : map(value, scalar);
  if (isList(shape)) return isEmpty(value) ? undefined : list(value, shape[0]);
  if (isMapOf(shape)) return isEmpty(value) ? undefined : map(value, (each) => struct(each, shape.mapOf));
  return value === undefined || value === null ? undefined : struct(value, shape);
}

function list(value: unknown, shape: Struct): string {
  return Array.isArray(value) ? `[${value.map((item) => struct(item, shape)).join(',')}]` : 'null';
}

function map(value: unknown, text: (each: unknown) => string): string {
  const entries = Object.entries(asFields(value)).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${scalar(key)}:${text(each)}`).join(',')}}`;
}

/** Escapes HTML characters, like Go's encoding/json. */
function scalar(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function asFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function isList(shape: Struct | readonly [Struct] | { readonly mapOf: Struct }): shape is readonly [Struct] {
  return Array.isArray(shape);
}

function isMapOf(shape: Struct | { readonly mapOf: Struct }): shape is { readonly mapOf: Struct } {
  return 'mapOf' in shape;
}
