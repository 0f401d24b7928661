// Suites that need what a machine may lack: skipped where it is missing, visibly, or failing where it must be there.
import { describe } from 'vitest';

export interface Need {
  /** What is told to be skipped: `real cluster`. */
  readonly what: string;
  /** One line that says why it cannot be had here. */
  readonly missing: string | undefined;
  /** The environment variable that makes a skip a failure when it is `require`. */
  readonly variable: string;
}

/** Reasons that this worker has printed. */
const told = new Set<string>();

/** Where something is missing, the suite counts as skipped, and its title and one line of the output say why. */
export function describeNeeding(name: string, needs: readonly Need[], define: () => void): void {
  const lacking = needs.find(({ missing }) => missing !== undefined);
  if (lacking !== undefined) tell(lacking);
  const why = lacking === undefined ? '' : ` skipped: ${lacking.missing}`;
  describe.skipIf(lacking !== undefined)(`${name}${why}`, () => {
    define();
  });
}

function tell({ what, missing = '', variable }: Need): void {
  if (process.env[variable] === 'require') throw new Error(missing);
  if (!told.has(missing)) process.stderr.write(`${what} skipped: ${missing}\n`);
  told.add(missing);
}
