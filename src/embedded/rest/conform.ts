// An object against its kind: unknown fields, defaults, and everything that is wrong with it. Called by create and update.
import type { AnyObject } from '../../kube/objects.ts';
import { decodeObject, setDefaults, validate } from '../kinds/index.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { Cluster, Target, WriteOptions } from './context.ts';
import { badRequest, Fault, internal } from './fault.ts';
import { rulesOf } from './rules/index.ts';

/** The object with what its kind does not have taken out and its defaults filled in; throws when it cannot be read. */
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

/** The same for an object that a webhook has changed: what cannot be read now is nothing that the caller did. */
export function conformAdmitted(target: Target, object: AnyObject, options: WriteOptions): AnyObject {
  try {
    return conform(target, object, { ...options, fieldValidation: 'Ignore' });
  } catch (error) {
    throw error instanceof Fault ? internal(error.message.replace(/^.* cannot be handled as a \w+: /, '')) : error;
  }
}

/** Everything that is wrong with an object that could be read. */
export function problemsOf(
  cluster: Cluster,
  target: Target,
  next: AnyObject,
  old: AnyObject | undefined,
): readonly FieldError[] {
  // These exist to change what an ordinary update may not.
  const free = target.subresource === 'binding' || target.subresource === 'ephemeralcontainers';
  const before = free ? undefined : old;
  return [
    ...validate(target.resource, next, before),
    ...(rulesOf(target.resource).problems?.(next, old, cluster) ?? []),
  ];
}
