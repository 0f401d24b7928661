// provisional
import type { AnyObject } from '../../kube/objects.ts';
import type { Target, WriteOptions } from './context.ts';

export function conform(_target: Target, object: AnyObject, _options: WriteOptions, _old?: AnyObject): AnyObject {
  return object;
}
