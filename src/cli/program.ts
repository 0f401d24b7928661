// The program around the commands: its own options, and what becomes of failures.
import { Command } from 'commander';
import { CommandFailed, exitWhenReaderLeaves, EXIT, messageOf } from './exit.ts';
import { fitHelp } from './help.ts';
import { version } from './version.ts';

/** The command line with these commands. */
export function programWith(commands: Iterable<Command>): Command {
  const root = new Command('offshoot')
    .description('On-demand environments on the Kubernetes cluster and service mesh you already run.')
    .version(version(), '-V, --version', 'print the version')
    .showHelpAfterError('Try "offshoot --help".')
    .showSuggestionAfterError()
    .option('--no-color', 'print without colours, as NO_COLOR does')
    .hook('preAction', (each) => {
      if (!each.opts<{ color: boolean }>().color) process.env['NO_COLOR'] = '1';
    });
  for (const command of commands) root.addCommand(command);
  return fitHelp(root);
}

/** Runs what the arguments name. A failure is told on standard error and sets the exit code. */
export async function run(program: () => Command, argv: () => readonly string[]): Promise<void> {
  exitWhenReaderLeaves();
  try {
    await program().parseAsync([...argv()]);
  } catch (error) {
    const message = messageOf(error);
    if (message !== '') console.error(`error: ${message}`);
    if (process.env['OFFSHOOT_DEBUG'] && error instanceof Error) console.error(error.stack);
    process.exitCode = error instanceof CommandFailed ? error.exitCode : EXIT.error;
  }
}
