// provisional
import type { AnyObject } from '../../kube/objects.ts';
import type { Target, WriteOptions } from './context.ts';

export function trackWrite(
  _target: Target,
  _old: AnyObject | undefined,
  next: AnyObject,
  _options: WriteOptions,
): AnyObject {
  return next;
}
