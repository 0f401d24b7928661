// Status in the words of the claim system: a phase, and conditions that begin with `ErrorOccurred`.
import type { PlannedCondition } from '../controller/index.ts';

/** What went wrong, for the status; nothing when all is well. */
export function errorCondition(message: string | undefined): PlannedCondition {
  if (message === undefined) return { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' };
  return { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message };
}

export function condition(type: string, is: boolean, reason: string, message: string): PlannedCondition {
  return { type, status: is ? 'True' : 'False', reason, message };
}
