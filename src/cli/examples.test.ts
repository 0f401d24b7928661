// Checks that the examples in the help of every command are valid: their flags exist and have values, and no argument
// is missing. docs/reference/commands.md shows the same examples.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { program } from './main.ts';
import { withClusterFlagsLast, withNegatedSwitches } from './options.ts';
import { everyCommand } from './testing/commands.ts';

const leaves = everyCommand().filter(({ commands }) => commands.length === 0);

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
}

/** The lines below "Examples:" in the help of a command. Those that a backslash continues are joined. */
function examplesOf(command: Command): string[] {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  const [, below = ''] = help.split(/^Examples?:\n/m);
  const lines = below.replaceAll(/ *\\\n */g, ' ').split('\n');
  return lines.filter((line) => /^ .*\boffshoot /.test(line)).map((line) => line.trim());
}

/** The arguments of each call of offshoot in a shell command. */
function callsIn(line: string): string[][] {
  const calls: string[][] = [[]];
  for (const [token, operator] of line.matchAll(/([|&<>()]+)|(?:'[^']*'|"[^"]*"|[^\s'"|&<>()])+/g)) {
    if (operator === undefined) calls.at(-1)!.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
    else calls.push([]);
  }
  return calls.filter(([name]) => name === 'offshoot').map(([, ...args]) => args);
}

/** Parses arguments as the command line does; resolves with the path of the command that would run. */
async function commandFor(args: readonly string[]): Promise<string | undefined> {
  let called: string | undefined;
  const fresh = await program();
  for (const command of everyCommand(fresh)) {
    if (command.commands.length > 0) continue;
    command.action(() => {
      called = pathOf(command);
    });
  }
  const argv = withNegatedSwitches(withClusterFlagsLast(['node', 'offshoot', ...args]));
  await fresh.parseAsync([...argv]);
  return called;
}

describe.each(leaves.map((command) => [pathOf(command), command] as const))('%s', (path, command) => {
  const examples = examplesOf(command);

  test('has examples that call it', async () => {
    const called = await Promise.all(examples.flatMap(callsIn).map(commandFor));
    // "env plan" is also "plan", with the same help.
    const names = new Set([path, path.replace(/^env plan$/, 'plan')]);
    expect(called.filter((each) => each !== undefined && names.has(each)).length).toBeGreaterThan(0);
  });

  test.each(examples)('%s', async (example) => {
    const calls = callsIn(example);
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) expect(await commandFor(call)).toBeDefined();
  });
});

test.each([
  ['an unknown flag', 'offshoot env list --al'],
  ['a flag without its value', 'offshoot env create pr-7 --key'],
  ['a missing argument', 'offshoot env describe'],
  ['an argument too many', 'offshoot env describe a b'],
  ['an unknown command', 'kubectl get pods | offshoot env look'],
])('finds %s in an example', async (_mistake, example) => {
  const [call] = callsIn(example);
  await expect(commandFor(call!)).rejects.toThrow('--help');
});
