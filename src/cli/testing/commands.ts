// All commands of the command line, for tests of what they have in common.
import type { Command } from 'commander';
import { program } from '../main.ts';

const whole = await program();

/** Every command, and those below it. */
export function everyCommand(command: Command = whole): Command[] {
  return [command, ...command.commands.flatMap((each) => everyCommand(each))];
}
