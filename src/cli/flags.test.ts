// Checks that flags are consistent across all commands.
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { everyCommand } from './testing/commands.ts';

const commands = everyCommand().filter(({ commands: below }) => below.length === 0);
const pathOf = (command: Command): string =>
  command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim();
const named = (name: string): Command[] => commands.filter((command) => command.name() === name);
const flagsOf = ({ options }: Command): string[] => options.map(({ long }) => long ?? '').toSorted();

/** Same as in Helm. */
const EXCEPTIONS = new Set(['install -f']);

test('a short flag stands for the same long flag in all commands', () => {
  const meanings = new Map<string, Set<string>>();
  for (const command of commands) {
    for (const { short, long } of command.options) {
      if (!short || !long || EXCEPTIONS.has(`${pathOf(command)} ${short}`)) continue;
      meanings.set(short, new Set([...(meanings.get(short) ?? []), long]));
    }
  }
  expect([...meanings].filter(([, longs]) => longs.size > 1)).toEqual([]);
  expect(meanings.size).toBeGreaterThan(5);
});

describe.each(['describe', 'delete'])('every "%s"', (name) => {
  test('takes the same flags', () => {
    const [first, ...others] = named(name).map(flagsOf);
    expect(others.length).toBeGreaterThan(0);
    for (const other of others) expect(other).toEqual(first);
  });
});

test('every list takes the same flags', () => {
  const lists = [...named('list'), ...named('classes')].map((each) =>
    flagsOf(each).filter((flag) => flag !== '--all-namespaces'),
  );
  for (const flags of lists) expect(flags).toEqual(lists[0]);
  expect(lists).toHaveLength(5);
});

test.each(commands.map((command) => [pathOf(command), command] as const))('%s has an example', (_path, command) => {
  let help = '';
  command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
  expect(help).toMatch(/\nExamples?:\n {2}\S/);
});
