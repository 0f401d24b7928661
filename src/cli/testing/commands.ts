// All commands of the command line, for tests of their consistency.
import type { Command } from 'commander';
import { program } from '../main.ts';

const whole = await program();

/** A command and all its subcommands. */
export function everyCommand(command: Command = whole): Command[] {
  return [command, ...command.commands.flatMap((each) => everyCommand(each))];
}
