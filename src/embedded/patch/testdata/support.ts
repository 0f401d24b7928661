// Helpers for tests of the patch engine.
import { PatchError } from '../errors.ts';

/** Returns the PatchError that a call must throw. */
export function refusal(call: () => unknown): PatchError {
  try {
    call();
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
  throw new Error('expected the patch to be refused');
}
