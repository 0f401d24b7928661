// The columns of certificate signing requests.
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { numberAt, objects, text } from '../read.ts';
import { ageColumn, column, humanDuration, nameColumn } from './text.ts';

const none = '<none>';

function condition(request: ApiObject): string {
  const types = new Set(objects(request, 'status', 'conditions').map((each) => text(each, 'type')));
  const decision = ['Denied', 'Approved'].find((type) => types.has(type)) ?? (types.has('Failed') ? '' : 'Pending');
  const parts = [
    decision,
    types.has('Failed') ? 'Failed' : '',
    text(request, 'status', 'certificate') === '' ? '' : 'Issued',
  ];
  return parts.filter((part) => part !== '').join(',');
}

function requestedDuration(request: ApiObject): string {
  const seconds = numberAt(request, 'spec', 'expirationSeconds');
  return seconds === undefined ? none : humanDuration(seconds * 1000);
}

export const certificateRequestColumns: readonly PrinterColumn[] = [
  nameColumn,
  ageColumn,
  column('SignerName', 'string', (request) => text(request, 'spec', 'signerName') || none),
  column('Requestor', 'string', (request) => text(request, 'spec', 'username')),
  column('RequestedDuration', 'string', requestedDuration),
  column('Condition', 'string', condition),
];
