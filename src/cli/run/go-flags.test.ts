import { expect, test } from 'vitest';
import { loggerOptions, withTwoDashes } from './go-flags.ts';
import type { LogOptions } from './go-flags.ts';
import { runCommand } from './command.ts';

/** The options that `run` parses from arguments. */
function parsedOptions(...args: readonly string[]): Record<string, unknown> {
  const command = runCommand()
    .exitOverride()
    .configureOutput({ writeErr: (text) => expect.fail(text) })
    .action(() => {});
  command.parse([...withTwoDashes(args, command)], { from: 'user' });
  return command.opts();
}

test("run accepts the arguments of Riskified's operator", () => {
  expect(parsedOptions('--leader-elect', '--version-label', 'version', '--default-version', 'shared')).toMatchObject({
    leaderElect: true,
    versionLabel: 'version',
    defaultVersion: 'shared',
  });
  expect(
    parsedOptions('-leader-elect=false', '-version-label=v', '-default-version', 'stable', '-remove-labels=a,b'),
  ).toMatchObject({ leaderElect: false, versionLabel: 'v', defaultVersion: 'stable', removeLabels: ['a', 'b'] });
  expect(parsedOptions('--health-probe-bind-address=:9', '-metrics-bind-address', '127.0.0.1:7')).toMatchObject({
    healthProbeBindAddress: { host: '', port: 9 },
    metricsBindAddress: { host: '127.0.0.1', port: 7 },
  });
});

test('withTwoDashes leaves short flags unchanged', () => {
  expect(parsedOptions('-n', 'team')).toMatchObject({ namespace: 'team' });
  expect(parsedOptions('-nteam')).toMatchObject({ namespace: 'team' });
});

test.each<[string[], object]>([
  [[], { level: 'info' }],
  [['--zap-devel'], { level: 'debug', format: 'human' }],
  [['-zap-devel=false'], { level: 'info' }],
  [['--zap-log-level', 'error', '--zap-encoder=json'], { level: 'error', format: 'json' }],
  [['--zap-log-level=3', '--zap-encoder', 'console'], { level: 'trace', format: 'human' }],
  [
    ['--zap-log-level=debug', '--log-level', 'warn', '--zap-devel', '--log-format=json'],
    { level: 'warn', format: 'json' },
  ],
  [['--zap-stacktrace-level=panic', '--zap-time-encoding', 'iso8601'], { level: 'info' }],
])('loggerOptions: %j becomes %j', (args, logging) => {
  expect(loggerOptions(parsedOptions(...args) as LogOptions)).toEqual(logging);
});
