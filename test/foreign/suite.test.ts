// A suite that hangs is killed, and the error says which one it was.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runSuite } from './suite.ts';

/** Makes a folder of programs with one suite, which is a shell script. */
function programWith(suite: string, script: string): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-suite-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(path.join(dir, 'pkg', suite), { recursive: true });
  writeFileSync(path.join(dir, `${suite}.test`), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return dir;
}

test('a suite that hangs is killed, and the error has its name and output', async () => {
  const programs = programWith('endless', 'echo waiting for a lease; exec sleep 600');
  const running = runSuite(programs, 'endless', 'none', { endMs: 100, killMs: 500 });
  await expect(running).rejects.toThrow(/^endless took longer than 0.5 s and was stopped:\nwaiting for a lease/);
});

test('a suite that ends without a report fails with its name and output', async () => {
  const programs = programWith('broken', 'echo no cluster; exit 1');
  await expect(runSuite(programs, 'broken', 'none')).rejects.toThrow('broken made no report:\nno cluster');
});
