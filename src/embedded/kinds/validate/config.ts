// Validates ConfigMaps and Secrets.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../../schema/field-error.ts';
import { stringMap, text } from '../read.ts';
import { immutable, nameErrors } from './common.ts';
import { configKeyProblems } from './names.ts';

const dataLimit = 1024 * 1024;
const immutableText = 'field is immutable when `immutable` is set';

function keyErrors(object: ApiObject, field: string): FieldError[] {
  return Object.keys(stringMap(object, field)).flatMap((key) => nameErrors(configKeyProblems, key, `${field}[${key}]`));
}

function immutableDataErrors(
  object: ApiObject,
  old: ApiObject | undefined,
  ...fields: readonly string[]
): FieldError[] {
  if (old?.['immutable'] !== true) return [];
  const errors = object['immutable'] === true ? [] : [forbidden('immutable', immutableText)];
  for (const field of fields) {
    if (!isDeepStrictEqual(object[field] ?? {}, old[field] ?? {})) errors.push(forbidden(field, immutableText));
  }
  return errors;
}

export function configMapErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const data = stringMap(object, 'data');
  const binary = stringMap(object, 'binaryData');
  const errors = [...immutableDataErrors(object, old, 'data', 'binaryData'), ...keyErrors(object, 'data')];
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(binary, key)) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  errors.push(...keyErrors(object, 'binaryData'));
  const size = [...Object.values(data), ...Object.values(binary)].reduce(
    (sum, value) => sum + Buffer.byteLength(value),
    0,
  );
  if (size > dataLimit) errors.push(tooLong('', dataLimit));
  return errors;
}

const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

export function secretErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const data = stringMap(object, 'data');
  const type = text(object, 'type');
  const errors = old === undefined ? [] : immutable(type, text(old, 'type'), 'type');
  errors.push(...immutableDataErrors(object, old, 'data'), ...keyErrors(object, 'data'));
  const size = Object.values(data).reduce((sum, value) => sum + Math.floor((value.length * 3) / 4), 0);
  if (size > dataLimit) errors.push(tooLong('data', dataLimit));
  for (const key of secretKeys[type] ?? []) {
    if (data[key] === undefined) errors.push(required(`data[${key}]`));
    else if (key.startsWith('.docker')) errors.push(...jsonErrors(data[key], `data[${key}]`));
  }
  if (type === 'kubernetes.io/basic-auth' && data['username'] === undefined && data['password'] === undefined) {
    errors.push(required('data[username]'), required('data[password]'));
  }
  const account = 'kubernetes.io/service-account.name';
  if (type === 'kubernetes.io/service-account-token' && text(object, 'metadata', 'annotations', account) === '') {
    errors.push(required(`metadata.annotations[${account}]`));
  }
  return errors;
}

/** Registry credentials must be JSON. The message does not contain them. */
function jsonErrors(encoded: string, path: string): FieldError[] {
  const plain = Buffer.from(encoded, 'base64').toString('utf8');
  try {
    JSON.parse(plain);
    return [];
  } catch {
    const first = plain.trimStart().charAt(0);
    const why =
      first === '' ? 'unexpected end of JSON input' : `invalid character '${first}' looking for beginning of value`;
    return [invalid(path, '<secret contents redacted>', why)];
  }
}
