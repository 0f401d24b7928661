// The program around the commands: its global options, and error handling.
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { codeOf } from './errors/code-of.ts';
import { CommandFailed, EXIT, exitOnBrokenPipe, failure, messageOf } from './exit.ts';
import type { ErrorCode } from './errors/catalogue.ts';
import { fitHelp } from './help.ts';
import { version } from './version/version.ts';

/** The command line with these commands. */
export function programWith(commands: Iterable<Command>): Command {
  const root = new Command(commandName(process.argv[1]))
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .option('--no-color', 'print without colors, like NO_COLOR')
    .hook('preAction', (each) => {
      if (!each.opts<{ color: boolean }>().color) process.env['NO_COLOR'] = '1';
    });
  for (const command of commands) root.addCommand(command);
  return throwing(fitHelp(root));
}

/** The name in messages: as a plugin, kubectl runs the program under the name kubectl-offshoot. */
function commandName(file = ''): string {
  return path.basename(file, '.js') === 'kubectl-offshoot' ? 'kubectl offshoot' : 'offshoot';
}

/** Makes a command and its subcommands throw usage errors instead of exiting. */
function throwing(command: Command): Command {
  command.configureOutput({ outputError: () => {} }).exitOverride((error) => {
    throw usageFailure(error, command);
  });
  command.commands.forEach((each) => throwing(each));
  return command;
}

const USAGE_CODES: Readonly<Record<string, ErrorCode>> = {
  'commander.unknownCommand': 'UnknownCommand',
  'commander.unknownOption': 'UnknownFlag',
  'commander.missingArgument': 'MissingArgument',
  'commander.optionMissingArgument': 'MissingArgument',
  'commander.excessArguments': 'ExtraArgument',
  'commander.missingMandatoryOptionValue': 'MissingFlag',
  'commander.conflictingOption': 'ConflictingFlags',
  'commander.invalidArgument': 'InvalidFlag',
};

function usageFailure(error: CommanderError, command: Command): Error {
  const code = USAGE_CODES[error.code];
  if (code === undefined) return error;
  const names = [command.name()];
  for (let above = command.parent; above !== null; above = above.parent) names.unshift(above.name());
  return failure(code, `${error.message.replace(/^error: /, '')}\nTry "${names.join(' ')} --help".`);
}

/** Runs the command of the arguments. A failure is printed on standard error and sets the exit code. */
export async function run(
  program: () => Command | Promise<Command>,
  argv: () => readonly string[] | Promise<readonly string[]>,
): Promise<void> {
  exitOnBrokenPipe();
  try {
    const [command, words] = await Promise.all([program(), argv()]);
    await command.parseAsync([...words]);
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

/** Prints a failure with its code on standard error, and returns the exit code. */
export function reportFailure(error: unknown): number {
  // Help or the version was printed.
  if (error instanceof CommanderError) return error.exitCode;
  const message = messageOf(error);
  if (message !== '') {
    const code = codeOf(error);
    console.error(`error: ${message}\ncode: ${code}, see "${commandName(process.argv[1])} errors ${code}"`);
  }
  if (process.env['OFFSHOOT_DEBUG'] && error instanceof Error) console.error(error.stack);
  return error instanceof CommandFailed ? error.exitCode : EXIT.error;
}
