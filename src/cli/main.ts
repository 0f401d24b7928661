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

const COMMANDS: Readonly<Record<string, () => Command>> = {
  up: upCommand,
  run: runCommand,
  crds: crdsCommand,
  env: envCommand,
  target: targetCommand,
  claim: claimCommand,
  completion: completionCommand,
};

/** The command line; where a name is given, with that command only: to make all of them takes a while. */
function program(only?: string): Command {
  const root = new Command('offshoot')
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .showHelpAfterError('Try "offshoot --help".')
    .showSuggestionAfterError()
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .hook('preAction', (each) => {
      if (!each.opts<{ color: boolean }>().color) process.env['NO_COLOR'] = '1';
    });
  for (const [name, make] of Object.entries(COMMANDS)) {
    if (only === undefined || only === name) root.addCommand(make());
  }
  return only === undefined ? root.addCommand(completeCommand(program), { hidden: true }) : root;
}

/** `run` takes over the arguments of an operator written in Go. */
function goFlagsOf(argv: readonly string[]): readonly string[] {
  return argv[2] === 'run' ? withTwoDashes(argv, runCommand()) : argv;
}

/** Runs the command that the arguments name. A failure is told on standard error and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    const only = argv.slice(2, 3).find((word) => Object.hasOwn(COMMANDS, word));
    await program(only).parseAsync([...goFlagsOf(switchesOf(argv))]);
  } catch (error) {
    const message = messageOf(error);
    if (message !== '') console.error(`error: ${message}`);
    if (process.env['OFFSHOOT_DEBUG'] && error instanceof Error) console.error(error.stack);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : EXIT.error;
  }
}
