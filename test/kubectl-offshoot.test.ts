// The real kubectl runs "kubectl offshoot", completes it, and formats JSONPath templates as we do.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printedByKubectl, templatesRefusedByKubectl, thing } from '../src/cli/testing/jsonpath-habits.ts';
import { installedKubectls } from './embedded/kubectl-session.ts';
import { writeProgram } from './support/write-program.ts';

const kubectl = installedKubectls().at(-1);
const execute = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..');
const { bin } = (await import('../package.json', { with: { type: 'json' } })).default;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'kubectl-offshoot-'));
  writeFileSync(path.join(dir, 'thing.json'), JSON.stringify(thing));
  mkdirSync(path.join(dir, 'bin'));
  for (const [name, file] of Object.entries(bin)) {
    const program = path.join(dir, 'bin', name);
    // Like npm's link: the program sees the name that it was called by.
    writeProgram(
      program,
      `#!/bin/sh\nexec '${process.execPath}' --import 'data:text/javascript,process.argv[1]="${name}"' '${path.join(ROOT, file)}' "$@"\n`,
    );
  }
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    HOME: dir,
    KUBECONFIG: path.join(dir, 'none'),
    PATH: `${path.join(dir, 'bin')}${path.delimiter}${process.env['PATH']}`,
  };
  return execute(kubectl!.path, args, { env, encoding: 'utf8' }).then(
    (printed) => ({ code: 0, ...printed }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

describe.skipIf(kubectl === undefined)('kubectl', { timeout: 120_000 }, () => {
  test('runs offshoot as a plugin, whose help and errors name it "kubectl offshoot"', async () => {
    const help = await run('offshoot', 'env', '--help');
    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toMatch(/^Usage: kubectl offshoot env /);
    const refused = await run('offshoot', 'env', 'lst');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Try "kubectl offshoot env --help".\n');
    expect(refused.stderr).toContain('see "kubectl offshoot errors UnknownCommand"\n');
  });

  test('completes the commands of the plugin', async () => {
    const { stdout } = await run('__complete', 'offshoot', 'env', 'd');
    expect(stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(
      expect.arrayContaining(['describe', 'delete', ':4']),
    );
  });

  const formatted = (template: string): ReturnType<typeof run> =>
    run('label', '--local', '-f', path.join(dir, 'thing.json'), 'team=blue', '-o', `jsonpath=${template}`);

  test('formats templates as we do', async () => {
    for (const [template, text] of printedByKubectl) {
      expect({ template, ...(await formatted(template)) }).toMatchObject({ template, code: 0, stdout: text });
    }
    for (const template of templatesRefusedByKubectl) {
      expect({ template, ...(await formatted(template)) }).toMatchObject({ template, code: 1 });
    }
  });
});
