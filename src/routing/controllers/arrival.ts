// Objects that are applied together arrive one by one. Problems that last only until all have arrived are not reported.
import type { View } from '../../controller/index.ts';
import type { Findings } from './status.ts';

/** How long a problem must have lasted before it is reported. */
const ARRIVAL_MS = 2_000;

/** The time to wait before problems of an object are reported; 0 if there are none, or they have lasted long enough. */
export function reportDelay(view: View, { rejected, leftOut = [] }: Findings): number {
  if (rejected.length === 0 && leftOut.length === 0) return 0;
  return Math.max(0, ARRIVAL_MS - view.heldFor('something is wrong'));
}
