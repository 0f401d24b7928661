// Suites that require something that a machine may lack: skipped with a message where it is missing, or failed if
// required.
import { describe } from 'vitest';

export interface Requirement {
  /** The name in the message: `real cluster`. */
  readonly what: string;
  /** One line that says why it is not available here. */
  readonly missing: string | undefined;
  /** The environment variable that makes a skip a failure when it is `require`. */
  readonly variable: string;
}

/** Reasons that this worker has printed. */
const printed = new Set<string>();

/** Defines a suite. If something is missing, it is skipped, and its title and a line of the output say why. */
export function describeRequiring(name: string, requirements: readonly Requirement[], define: () => void): void {
  const lacking = requirements.find(({ missing }) => missing !== undefined);
  if (lacking !== undefined) reportMissing(lacking);
  const why = lacking === undefined ? '' : ` skipped: ${lacking.missing}`;
  describe.skipIf(lacking !== undefined)(`${name}${why}`, () => {
    define();
  });
}

function reportMissing({ what, missing = '', variable }: Requirement): void {
  if (process.env[variable] === 'require') throw new Error(missing);
  if (!printed.has(missing)) process.stderr.write(`${what} skipped: ${missing}\n`);
  printed.add(missing);
}
