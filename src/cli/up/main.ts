// The command line of `offshoot up` only. The bundle has it in one file with all that it runs; bin/offshoot.js loads it
// instead of main.ts.
import { programWith, run } from '../program.ts';
import { upCommand } from './command.ts';

export { startLocal, up } from './cluster.ts';

/** Same as in main.ts. */
export function main(argv: readonly string[]): Promise<void> {
  return run(
    () => programWith([upCommand()]),
    () => argv,
  );
}
