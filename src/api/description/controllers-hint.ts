// Hints for an object that no controller has processed: which part must run, and how to start it.

/** A part of the control plane, as `offshoot run --controllers` calls it. */
export type PartName = 'environments' | 'targets' | 'routing' | 'mesh';

/** For a part that does not seem to run. */
export function checkRuns(part: PartName): string {
  return `check that "offshoot run --controllers ${part}" runs for this cluster`;
}

/** For an object that has no status yet. */
export function notSeenYet(part: PartName): string {
  return `no controller has looked at it yet: ${checkRuns(part)}`;
}
