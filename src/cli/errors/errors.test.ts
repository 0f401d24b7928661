import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answerError, connectionError } from '../../kube/errors.ts';
import { CommandFailed, EXIT, failure, invalidFile, invalidFlag } from '../exit.ts';
import { runnerFor } from '../testing/offshoot-process.ts';
import { ERRORS } from './catalogue.ts';
import { codeOf } from './code-of.ts';

const runner = runnerFor('/nowhere');
const SOURCES = path.resolve(import.meta.dirname, '../..');

test('every code of the catalogue is used in the sources', () => {
  const files = globSync('{cli,kube}/**/*.ts', { cwd: SOURCES, exclude: ['**/*.test.ts', '**/catalogue.ts'] });
  const text = files.map((file) => readFileSync(path.join(SOURCES, file), 'utf8')).join('\n');
  expect(Object.keys(ERRORS).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});

test.each(Object.entries(ERRORS))('%s has a meaning and an advice', (_code, { meaning, advice }) => {
  expect(meaning).toMatch(/^[^A-Z](?!.*\.$)|^Offshoot/);
  expect(advice).toMatch(/^[A-Z0-9_"].*\.$/);
});

const denied = (message: string): object => ({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  reason: 'Forbidden',
  code: 403,
  message,
});

test.each<[unknown, string]>([
  [failure('TimedOut', 'too late'), 'TimedOut'],
  [invalidFlag('--key', 'x y', 'no spaces'), 'InvalidFlag'],
  [invalidFile('a.yaml:1:1', 'no object'), 'InvalidFile'],
  [new CommandFailed(EXIT.error, 'a rule', 'RULE_NO_MATCHERS'), 'RULE_NO_MATCHERS'],
  [answerError({ method: 'GET', path: '/' }, 403, ''), 'Forbidden'],
  [
    answerError({ method: 'POST', path: '/' }, 403, denied('admission webhook "a.b" denied the request: no')),
    'DeniedByWebhook',
  ],
  [answerError({ method: 'POST', path: '/' }, 403, denied('pods "a" is forbidden: exceeded quota')), 'Forbidden'],
  [answerError({ method: 'GET', path: '/' }, 422, ''), 'Invalid'],
  [answerError({ method: 'GET', path: '/' }, 418, ''), 'ServerRefused'],
  [connectionError({ method: 'GET', path: '/' }, 'ConnectionLost', 'it broke'), 'ConnectionLost'],
  [Object.assign(new Error('in use'), { code: 'EADDRINUSE' }), 'PortInUse'],
  [new Error('who knows'), 'Unexpected'],
  ['a text', 'Unexpected'],
])('%s has the code %s', (error, code) => {
  expect(codeOf(error)).toBe(code);
});

test('the code determines the exit code', () => {
  expect([failure('TimedOut', '').exitCode, failure('NotFound', '').exitCode]).toEqual([EXIT.timedOut, EXIT.error]);
});

test.each([
  [['nonsense'], 'UnknownCommand', 'offshoot --help'],
  [['env', 'lst'], 'UnknownCommand', 'offshoot env --help'],
  [['env', 'list', '--wach'], 'UnknownFlag', 'Did you mean --watch'],
  [['env', 'describe'], 'MissingArgument', 'offshoot env describe --help'],
  [['env', 'list', '-n'], 'MissingArgument', 'offshoot env list --help'],
  [['env', 'describe', 'a', 'b'], 'ExtraArgument', 'offshoot env describe --help'],
  [['mesh', 'upgrade'], 'MissingFlag', 'offshoot mesh upgrade --help'],
  [['explain', 'http://a', '--from', 'a/b', '--gateway', 'a/b'], 'ConflictingFlags', 'offshoot explain --help'],
  [['env', 'list', '-n', 'A_B'], 'InvalidFlag', 'offshoot env list --help'],
  [['env', 'create', '-f', '/nowhere.yaml', '--dry-run', 'client'], 'InvalidFile', 'the file does not exist'],
  [['env', 'list'], 'NoCluster', 'offshoot up'],
  [['env', 'list', '--kubeconfig', import.meta.filename], 'InvalidKubeconfig', 'errors.test.ts'],
])('%j prints the code %s', { timeout: 60_000 }, async (args, code, hint) => {
  const { code: exit, stdout, stderr } = await runner.run(...args);
  expect([exit, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(new RegExp(`^error: [^]*\\ncode: ${code}, see "offshoot errors ${code}"\\n$`));
  expect(stderr).toContain(hint);
});

test('--help and --version exit with 0', { timeout: 60_000 }, async () => {
  for (const args of [['--help'], ['env', '--help'], ['env', 'help', 'list'], ['--version']]) {
    expect(await runner.run(...args)).toMatchObject({ code: 0, stderr: '' });
  }
});

test('"offshoot errors" explains one code or all of them, as text and as data', { timeout: 60_000 }, async () => {
  expect((await runner.run('errors', 'timedout')).stdout).toBe(
    `TimedOut: ${ERRORS.TimedOut.meaning}\n\n${ERRORS.TimedOut.advice}\n\nExit code 3.\n`,
  );
  const { stdout } = await runner.run('errors', 'VN_NO_SERVICE', '-o', 'json');
  expect(JSON.parse(stdout)).toMatchObject({ code: 'VN_NO_SERVICE', exit: 1 });
  expect((await runner.run('errors', '-o', 'jsonpath={.errors[?(@.exit==3)].code}')).stdout).toBe('TimedOut');
  expect((await runner.run('errors', '-o', 'name')).stdout.split('\n')).toEqual(
    expect.arrayContaining([...Object.keys(ERRORS), 'RULE_NO_MATCHERS']),
  );
  expect((await runner.run('errors', 'notfond')).stderr).toContain(
    'CODE "notfond": there is no such code; did you mean NotFound?',
  );
});
