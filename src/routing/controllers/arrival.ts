// Objects that are applied together arrive one after the other. What is wrong only until all of them are there is not told.
import type { View } from '../../controller/index.ts';
import type { Findings } from './status.ts';

/** For how long something must have been wrong before it is told. */
const ARRIVAL_MS = 2_000;

/** How long to wait yet before an object is told what is wrong with it; 0 if nothing is, or it has been so long enough. */
export function waitBeforeTelling(view: View, { rejected, leftOut = [] }: Findings): number {
  if (rejected.length === 0 && leftOut.length === 0) return 0;
  return Math.max(0, ARRIVAL_MS - view.heldFor('something is wrong'));
}
