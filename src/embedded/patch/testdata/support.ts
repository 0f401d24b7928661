// What the tests of the patch engine share.
import { PatchError } from '../errors.ts';

/** Freezes a value all the way down, so that a function which changes its input fails. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

/** The refusal that a call must end in. */
export function refusal(call: () => unknown): PatchError {
  try {
    call();
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
  throw new Error('expected the patch to be refused');
}
