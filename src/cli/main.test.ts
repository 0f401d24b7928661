import { expect, test } from 'vitest';
import { outline, program } from './main.ts';
import { runnerFor } from './testing/offshoot-process.ts';

const runner = runnerFor('/nowhere');

test('the outline has the description of every command', async () => {
  const descriptionsOf = (commands: readonly { name(): string; description(): string }[]): unknown[] =>
    commands.map((each) => [each.name(), each.description()]);
  expect(descriptionsOf(outline().commands)).toEqual(descriptionsOf((await program()).commands));
});

test.each([
  [['--help'], /^Usage: offshoot \[options\] \[command\]/],
  [['help', 'env'], /^Usage: offshoot env /],
  [['--no-color', 'env', 'list', '--help'], /^Usage: offshoot env list\|get /],
  [['run', '-h'], /^Usage: offshoot run /],
  [['--version'], /^\d+\.\d+\.\d+\n$/],
])('%j prints help or the version', async (args, printed) => {
  expect(await runner.run(...args)).toEqual({ code: 0, stdout: expect.stringMatching(printed) as string, stderr: '' });
});
