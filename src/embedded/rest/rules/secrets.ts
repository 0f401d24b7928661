// Secrets: `stringData` is a convenience of writers; what is kept is `data` in base64.
import type { AnyObject } from '../../../kube/objects.ts';
import { part } from './types.ts';
import type { KindRules } from './types.ts';

function encoded(object: AnyObject): AnyObject {
  const { stringData, ...rest } = object;
  const typed = { type: 'Opaque', ...rest } as AnyObject;
  if (stringData === undefined) return typed;
  const added = Object.entries(part(object, 'stringData')).map(([name, text]) => [
    name,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return { ...typed, data: { ...part(object, 'data'), ...Object.fromEntries(added) } };
}

export const secretRules: KindRules = { prepareCreate: encoded, prepareUpdate: encoded };
