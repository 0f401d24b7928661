// The command line of `offshoot up` alone, which a bundle has in one file with all that it runs: bin/offshoot.js loads it
// in place of main.ts.
import { programWith, run } from '../program.ts';
import { upCommand } from './command.ts';

export { startLocal, up } from './cluster.ts';

/** As in main.ts. */
export function main(argv: readonly string[]): Promise<void> {
  return run(
    () => programWith([upCommand()]),
    () => argv,
  );
}
