// Validates certificate signing requests and their approval conditions.
import type { ApiObject } from '../../resource.ts';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import { numberAt, objects, strings, text } from '../read.ts';
import { immutable } from './common.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const decisions = ['Approved', 'Denied', 'Failed'];

export function certificateRequestErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const errors: FieldError[] = [];
  const request = text(spec, 'request');
  if (!Buffer.from(request, 'base64').toString().includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    errors.push(invalid('spec.request', request, 'PEM block type must be CERTIFICATE REQUEST'));
  }
  const requested = strings(spec, 'usages');
  if (requested.length === 0) errors.push(required('spec.usages'));
  for (const [index, usage] of requested.entries()) {
    if (!usages.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, usages));
    if (requested.indexOf(usage) < index) errors.push(duplicate(`spec.usages[${index}]`, usage));
  }
  errors.push(...signerErrors(text(spec, 'signerName')));
  const seconds = numberAt(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < 600) {
    const why = 'may not specify a duration less than 600 seconds (10 minutes)';
    errors.push(invalid('spec.expirationSeconds', seconds, why));
  }
  return [...errors, ...conditionErrors(object), ...(old === undefined ? [] : changeErrors(object, old))];
}

/** A signer name has the form `example.com/name`. */
function signerErrors(name: string): FieldError[] {
  if (name === '') return [required('spec.signerName')];
  if (!name.includes('/')) {
    return [
      invalid(
        'spec.signerName',
        name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    ];
  }
  return name === 'kubernetes.io/legacy-unknown'
    ? [invalid('spec.signerName', name, 'the legacy signerName is not allowed via this API version')]
    : [];
}

function conditionErrors(object: ApiObject): FieldError[] {
  const conditions = objects(object, 'status', 'conditions');
  const types = conditions.map((condition) => text(condition, 'type'));
  const errors = conditions.flatMap((condition, index) => {
    const itemPath = `status.conditions[${index}]`;
    const [type, status] = [text(condition, 'type'), text(condition, 'status')];
    const allowed = decisions.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    return [
      ...(type === '' ? [required(`${itemPath}.type`)] : []),
      ...(status === '' ? [required(`${itemPath}.status`)] : []),
      ...(status !== '' && !allowed.includes(status) ? [notSupported(`${itemPath}.status`, status, allowed)] : []),
      ...(types.indexOf(type) < index ? [duplicate(`${itemPath}.type`, type)] : []),
    ];
  });
  const approvals = types.filter((type) => type === 'Approved' || type === 'Denied');
  if (new Set(approvals).size < 2) return errors;
  const why = 'Approved and Denied conditions are mutually exclusive';
  return [...errors, invalid('status.conditions', approvals[1], why)];
}

/** Conditions with a decision cannot be removed, and an issued certificate cannot change. */
function changeErrors(object: ApiObject, old: ApiObject): FieldError[] {
  const typesOf = (each: ApiObject): string[] =>
    objects(each, 'status', 'conditions').map((entry) => text(entry, 'type'));
  const now = typesOf(object);
  const removed = decisions.filter((type) => typesOf(old).includes(type) && !now.includes(type));
  const before = text(old, 'status', 'certificate');
  return [
    ...removed.map((type) => forbidden('status.conditions', `updates may not remove a condition of type "${type}"`)),
    ...(before === '' ? [] : immutable(text(object, 'status', 'certificate'), before, 'status.certificate')),
  ];
}
