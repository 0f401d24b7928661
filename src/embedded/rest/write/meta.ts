// Object metadata: generated names, identity and immutable fields. Called by create and update.
import { timestamp } from '../../../kube/times.ts';
import { randomInt, randomUUID } from 'node:crypto';
import type { ObjectMeta } from '../../../kube/objects.ts';

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** The prefix with five random characters. */
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += suffixAlphabet[randomInt(suffixAlphabet.length)];
  return `${prefix.slice(0, 58)}${suffix}`;
}

/** The metadata of a new object: the fields that the client may set, and the identity that the server assigns. */
export function newMeta(given: ObjectMeta, name: string, namespace: string, generation: boolean): ObjectMeta {
  const {
    resourceVersion: _version,
    selfLink: _link,
    deletionTimestamp: _time,
    ...rest
  } = given as ObjectMeta & {
    selfLink?: string;
  };
  const { deletionGracePeriodSeconds: _grace, generation: _generation, namespace: _namespace, ...kept } = rest;
  return withoutEmpty({
    ...kept,
    name,
    ...(namespace !== '' && { namespace }),
    uid: randomUUID(),
    ...(generation && { generation: 1 }),
    creationTimestamp: timestamp(Date.now()),
  });
}

/** The metadata of a changed object: the identity is that of the old state, whatever the client sent. */
export function changedMeta(given: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { selfLink: _link, ...kept } = given as ObjectMeta & { selfLink?: string };
  const fixed: Record<string, unknown> = { ...kept };
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
  ] as const) {
    if (old[field] === undefined) delete fixed[field];
    else fixed[field] = old[field];
  }
  return withoutEmpty(fixed as unknown as ObjectMeta);
}

function withoutEmpty(meta: ObjectMeta): ObjectMeta {
  const result: Record<string, unknown> = { ...meta };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'] as const) {
    const value = meta[field];
    if (value === undefined) continue;
    if (value === null || (Array.isArray(value) ? value.length : Object.keys(value).length) === 0) delete result[field];
  }
  return result as unknown as ObjectMeta;
}
