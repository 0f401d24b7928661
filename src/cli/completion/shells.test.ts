// Runs the completion scripts in their shells.
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeRequiring } from '../../../test/support/requirements.ts';
import { until } from '../../../test/support/until.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { openShop } from '../testing/shop.ts';
import type { Shop } from '../testing/shop.ts';
import { SCRIPTS } from './scripts.ts';

const OFFSHOOT = path.resolve(import.meta.dirname, '../../../bin/offshoot.js');
const execute = promisify(execFile);

let shop: Shop;
let dir: string;
beforeAll(async () => {
  shop = await openShop({ controller: false });
  await shop.deploy('cart');
  await shop.deploy('pay', { containers: ['app', 'helper'] });
  await shop.client.create(DynamicEnv, {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'feature', namespace: 'shop' },
    spec: {
      istioMatches: [{ headers: { a: { exact: 'b' } } }],
      subsets: [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'cart', image: 'cart:2', env: [] }] }],
    },
  });
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-shells-'));
  mkdirSync(path.join(dir, 'bin'));
  for (const [shell, script] of Object.entries(SCRIPTS)) writeFileSync(path.join(dir, shell), script);
  const run = `#!/bin/sh\nexec '${process.execPath}' '${OFFSHOOT}' "$@"\n`;
  writeFileSync(path.join(dir, 'bin', 'offshoot'), run, { mode: 0o755 });
  writeFileSync(path.join(dir, 'a-file.yaml'), '');
}, 60_000);
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await shop.stop();
});

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  HOME: dir,
  TERM: 'xterm',
  KUBECONFIG: path.join(shop.dir, 'kubeconfig'),
  PATH: `${path.join(dir, 'bin')}${path.delimiter}${process.env['PATH']}`,
});

async function inShell(shell: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(shell, args, { env: environment(), cwd: dir, encoding: 'utf8' });
  return stdout.trimEnd();
}

const missing = (shell: string): string | undefined =>
  spawnSync(shell, ['--version']).status === 0 ? undefined : `${shell} is not installed: apt-get install ${shell}`;
const requirementsOf = (shell: string): Parameters<typeof describeRequiring>[1] => [
  { what: shell, missing: missing(shell), variable: 'OFFSHOOT_SHELLS' },
];

/** The suggestions for a line. Completion gives up quickly on a slow cluster, so it may take several tries. */
type Offered = (line: string) => Promise<string>;

function testSuggestions(offered: Offered, { whole }: { readonly whole: boolean }): void {
  test('suggests commands and values of flags', { timeout: 60_000 }, async () => {
    expect((await offered('offshoot env d')).split(' ').toSorted().join(' ')).toBe('delete describe');
    expect(await offered('offshoot env list -o js')).toBe('json jsonpath=');
    expect(await offered('offshoot env list --output=ya')).toBe(whole ? '--output=yaml' : 'yaml');
  });

  test.each([
    ['env describe f', 'feature'],
    ['env create x --subset ', 'cart= pay:'],
    ['env create x --subset pay:h', whole ? 'pay:helper=' : 'helper='],
    ['env create x --subset cart=', whole ? 'cart=cart:' : 'cart:'],
    ['env set-image feature ', 'cart='],
  ])('suggests from the cluster: %s⇥ gives %s', { timeout: 60_000 }, async (line, expected) => {
    let found = '';
    await until(async () => (found = await offered(`offshoot ${line}`)) === expected, 50_000);
    expect(found).toBe(expected);
  });
}

describeRequiring('bash', requirementsOf('bash'), () => {
  const offered: Offered = (line) =>
    inShell(
      'bash',
      '--norc',
      '-c',
      // Sourced twice, as when a profile is sourced again.
      `source ./bash; source ./bash; COMP_LINE=$1; COMP_POINT=\${#1}; __offshoot_complete; echo "\${COMPREPLY[*]}"`,
      'bash',
      line,
    );
  testSuggestions(offered, { whole: false });

  test('registers the completion function', async () => {
    expect(await inShell('bash', '--norc', '-c', 'source ./bash; complete -p offshoot')).toBe(
      'complete -F __offshoot_complete offshoot',
    );
  });
});

describeRequiring('zsh', requirementsOf('zsh'), () => {
  // Types a line and presses tab in an interactive shell on a pseudo-terminal.
  const typed = (line: string, expected: string): Promise<string> =>
    inShell(
      'zsh',
      '-f',
      '-c',
      `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1="> "; autoload -Uz compinit; compinit -u -D; source ./zsh; echo RE""ADY'
zpty -r -m z out '*READY*'
zpty -w -n z "$1"$'\\t'
for (( tries = 0; tries < 200; tries++ )); do
  while zpty -r -t z out; do seen+=$out; done
  [[ $seen == *$2* ]] && print -r -- completed && break
  sleep 0.1
done
zpty -d z`,
      'zsh',
      line,
      expected,
    );

  test.each([
    ['offshoot env des', 'env describe'],
    ['offshoot env list -o ya', '-o yaml'],
    ['offshoot env list --output=ya', '--output=yaml'],
    ['offshoot env describe f', 'describe feature'],
    ['offshoot env create x --subset c', '--subset cart='],
    ['offshoot env create x --subset pay:h', '--subset pay:helper='],
    ['offshoot env apply -f a-f', '-f a-file.yaml'],
  ])('completes %s⇥ to … %s', { timeout: 90_000 }, async (line, expected) => {
    let found = '';
    await until(async () => (found = await typed(line, expected)) === 'completed', 60_000);
    expect(found).toBe('completed');
  });
});

describeRequiring('fish', requirementsOf('fish'), () => {
  const offered: Offered = async (line) => {
    const found = await inShell('fish', '--no-config', '-c', 'source ./fish; complete -C $argv[1]', line);
    const values = found.split('\n').map((each) => each.split('\t')[0]!);
    return values.join(' ');
  };
  testSuggestions(offered, { whole: true });

  test('suggests files for a flag that takes one', { timeout: 60_000 }, async () => {
    expect(await offered('offshoot env apply -f a-f')).toBe('a-file.yaml');
  });
});

describe('PowerShell', () => {
  // Debian has no PowerShell package to run it.
  test('the script passes every word, and its brackets are balanced', () => {
    const script = SCRIPTS.powershell;
    expect(script).toContain('Register-ArgumentCompleter -Native -CommandName offshoot -ScriptBlock {');
    expect(script).toContain('& $program complete -- @rest');
    const code = script.replaceAll(/#.*|'[^']*'|"[^"]*"/g, '');
    for (const [open, close] of ['()', '{}', '[]']) {
      expect(code.split(open!).length).toBe(code.split(close!).length);
    }
  });
});
