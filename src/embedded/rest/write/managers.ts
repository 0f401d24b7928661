// Updates `metadata.managedFields` for every write that is not a server-side apply.
import type { AnyObject } from '../../../kube/objects.ts';
import { emptyObject } from '../../kinds/index.ts';
import { trackUpdate } from '../../patch/index.ts';
import type { Versions } from '../../patch/index.ts';
import { apiVersionOf } from '../../registry.ts';
import type { Target, WriteOptions } from '../context.ts';

/** The next state, with the writer as manager of the fields that it changed. */
export function trackWrite(
  target: Target,
  old: AnyObject | undefined,
  next: AnyObject,
  options: WriteOptions,
  versions?: Versions,
): AnyObject {
  const tracked = trackUpdate({
    schema: target.resource.schema,
    old,
    empty: emptyObject(target.resource),
    next,
    manager: options.fieldManager,
    apiVersion: apiVersionOf(target.resource),
    subresource: target.subresource,
    now: Date.now(),
    versions,
  });
  return tracked as AnyObject;
}
