// What to say where a controller has not done its work: which part must run, and how it is started.

/** A part of the control plane, as `offshoot run --controllers` calls it. */
export type PartName = 'environments' | 'targets' | 'routing' | 'mesh';

/** The part does not run, as far as one can see. */
export function checkRuns(part: PartName): string {
  return `check that "offshoot run --controllers ${part}" runs for this cluster`;
}

/** Nobody has written a status yet. */
export function notSeenYet(part: PartName): string {
  return `no controller has looked at it yet: ${checkRuns(part)}`;
}
