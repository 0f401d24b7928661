// npx runs the command of the checkout without installing it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeProgram } from '../test/support/write-program.ts';
import { linkCommands } from './link-commands.ts';

test.skipIf(process.platform === 'win32')('npx finds the command of a checkout without the network', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-link-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const name = 'tool';
  const manifest = { name, version: '1.0.0', bin: { [name]: 'bin/tool.js' } };
  writeFileSync(path.join(dir, 'package.json'), JSON.stringify(manifest));
  mkdirSync(path.join(dir, 'bin'));
  writeProgram(path.join(dir, 'bin/tool.js'), "#!/usr/bin/env node\nconsole.log('of the checkout');\n");
  linkCommands(dir);
  // Every build calls it again.
  linkCommands(dir);
  const env = { ...process.env, npm_config_offline: 'true', npm_config_cache: path.join(dir, 'cache') };
  const printed = execFileSync('npx', ['--no', name], { cwd: dir, env, encoding: 'utf8' });
  expect(printed).toBe('of the checkout\n');
});
