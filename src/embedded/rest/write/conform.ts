// Checks an object against its kind: unknown fields, defaults and validation. Called by create and update.
import type { AnyObject } from '../../../kube/objects.ts';
import { decodeObject, setDefaults, validate } from '../../kinds/index.ts';
import type { FieldError } from '../../schema/field-error.ts';
import type { Cluster, Target, WriteOptions } from '../context.ts';
import { badRequest, Fault, internal } from '../fault.ts';
import { rulesOf } from '../rules/index.ts';

/** Removes unknown fields and sets defaults; throws when the object cannot be decoded. */
export function conform(target: Target, object: AnyObject, options: WriteOptions): AnyObject {
  const { kind, version } = target.resource;
  const { value, unknownFields, problem } = decodeObject(target.resource, object);
  if (problem !== undefined) throw badRequest(problem);
  const { duplicates = [] } = options;
  if (unknownFields.length + duplicates.length > 0 && options.fieldValidation !== 'Ignore') {
    const texts = [
      ...duplicates.map((field) => `duplicate field ${JSON.stringify(field)}`),
      ...unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`),
    ];
    if (options.fieldValidation === 'Strict') {
      const list = texts.join(', ');
      throw badRequest(
        `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ${list}`,
      );
    }
    for (const text of texts) options.warn(text);
  }
  return setDefaults(target.resource, value as AnyObject) as AnyObject;
}

/** The same for an object that a webhook changed: a decoding error is an internal one, not the caller's. */
export function conformAdmitted(target: Target, object: AnyObject, options: WriteOptions): AnyObject {
  try {
    return conform(target, object, { ...options, fieldValidation: 'Ignore' });
  } catch (error) {
    throw error instanceof Fault ? internal(error.message.replace(/^.* cannot be handled as a \w+: /, '')) : error;
  }
}

/** All validation errors of a decoded object. */
export function problemsOf(
  cluster: Cluster,
  target: Target,
  next: AnyObject,
  old: AnyObject | undefined,
): readonly FieldError[] {
  // These subresources exist to change fields that are immutable in other updates.
  const skipsImmutability = target.subresource === 'binding' || target.subresource === 'ephemeralcontainers';
  const before = skipsImmutability ? undefined : old;
  return [
    ...validate(target.resource, next, before),
    ...(rulesOf(target.resource).problems?.(next, old, cluster) ?? []),
  ];
}
