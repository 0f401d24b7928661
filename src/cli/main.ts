// The command line. Each command is thin: it parses, calls a room, prints.
import { Command } from 'commander';
import { upCommand } from './up.ts';
import { version } from './version.ts';

function program(): Command {
  return new Command('offshoot')
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .showHelpAfterError('Try "offshoot --help".')
    .showSuggestionAfterError()
    .addCommand(upCommand());
}

/** Runs the command that the arguments name. A failure is one line on standard error and exit code 1. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync([...argv]);
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    if (process.env['OFFSHOOT_DEBUG'] && error instanceof Error) console.error(error.stack);
    process.exitCode = 1;
  }
}
