// The command line. Each command is thin: it parses, calls a room, prints.
import { Command } from 'commander';
import { claimCommand } from './claim.ts';
import { completeCommand, completionCommand } from './completion.ts';
import { envCommand } from './env.ts';
import { crdsCommand } from './crds.ts';
import { CommandFailed, EXIT, messageOf } from './exit.ts';
import { withTwoDashes } from './go-flags.ts';
import { switchesOf } from './options.ts';
import { runCommand } from './run.ts';
import { targetCommand } from './target.ts';
import { upCommand } from './up.ts';
import { version } from './version.ts';

function program(): Command {
  return new Command('offshoot')
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .showHelpAfterError('Try "offshoot --help".')
    .showSuggestionAfterError()
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .hook('preAction', (root) => {
      if (!root.opts<{ color: boolean }>().color) process.env['NO_COLOR'] = '1';
    })
    .addCommand(upCommand())
    .addCommand(runCommand())
    .addCommand(crdsCommand())
    .addCommand(envCommand())
    .addCommand(targetCommand())
    .addCommand(claimCommand())
    .addCommand(completionCommand())
    .addCommand(completeCommand(program), { hidden: true });
}

/** `run` takes over the arguments of an operator written in Go. */
function goFlagsOf(argv: readonly string[]): readonly string[] {
  return argv[2] === 'run' ? withTwoDashes(argv, runCommand()) : argv;
}

/** Runs the command that the arguments name. A failure is told on standard error and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync([...goFlagsOf(switchesOf(argv))]);
  } catch (error) {
    const message = messageOf(error);
    if (message !== '') console.error(`error: ${message}`);
    if (process.env['OFFSHOOT_DEBUG'] && error instanceof Error) console.error(error.stack);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : EXIT.error;
  }
}
