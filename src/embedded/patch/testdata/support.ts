// What the tests of the patch engine share.
import { PatchError } from '../errors.ts';

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
