import type { Command } from 'commander';
import { describe, expect, test, vi } from 'vitest';
import { envCommand } from './env/command.ts';
import { fitHelp, helpWidth, wrapText } from './help.ts';
import { everyCommand } from './testing/commands.ts';

/** The output of `--help` on a terminal of a given width. */
function helpOf(command: Command, columns: number): string {
  const before = process.stdout.columns;
  process.stdout.columns = columns;
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    fitHelp(command).outputHelp();
    return write.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    write.mockRestore();
    process.stdout.columns = before;
  }
}

describe.each([60, 80, 120])('on a terminal of %i columns', (columns) => {
  test.each(everyCommand().map((command) => [command.name(), command] as const))(
    'the help of %s fits',
    (_name, command) => {
      const help = helpOf(command, columns);
      expect(help).toContain('Usage: ');
      // A single word can't be wrapped.
      expect(
        help.split('\n').filter((line) => line.length > columns && /\s/.test(line.replace(/ \\$/, '').trim())),
      ).toEqual([]);
    },
  );
});

test('a flag that is longer than its column is printed above its description', () => {
  const create = envCommand().commands.find((command) => command.name() === 'create')!;
  expect(helpOf(create, 80)).toContain(`
  --subset <[namespace/]deployment[:container]=image>
                                a Deployment to clone with this image and to
                                route requests to; repeatable
`);
});

test('a long example is wrapped so that it can still be copied', () => {
  const command = '  offshoot env create a --header "x-env=a b c"';
  expect(wrapText(`Examples:\n${command}\n`, 30)).toBe(
    'Examples:\n  offshoot env create a \\\n      --header "x-env=a b c"\n',
  );
});

test('wrapText joins paragraphs and keeps the indentation of lists', () => {
  expect(wrapText('one two three\nfour\n\n  1    alpha beta gamma', 12)).toBe(
    'one two\nthree four\n\n  1    alpha\n       beta\n       gamma',
  );
});

test('helpWidth is that of the terminal, else of COLUMNS, else 80', () => {
  expect([
    helpWidth(120, '60'),
    helpWidth(undefined, '60'),
    helpWidth(undefined, undefined),
    helpWidth(10, ''),
  ]).toEqual([120, 60, 80, 40]);
});

test('only the help of plan commands has the exit code for changes', () => {
  const texts = ['create', 'plan'].map((name) =>
    helpOf(
      envCommand().commands.find((each) => each.name() === name)!,
      80,
    ),
  );
  expect(texts.map((text) => text.includes('there are changes'))).toEqual([false, true]);
});
