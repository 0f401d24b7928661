// `offshoot demo` runs to the end and leaves nothing behind, also when it is interrupted.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startOffshoot } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-demo-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const demo = (): ReturnType<typeof startOffshoot> =>
  startOffshoot(['demo'], { HOME: path.join(dir, 'home'), TMPDIR: dir, KUBECONFIG: path.join(dir, 'theirs') });
/** The files that are left. Caches of compiled code are in the home directory. */
const left = (): readonly string[] => readdirSync(dir).filter((name) => name !== 'home');

test('shows a plan, an environment, an explanation, a proof and errors, and leaves nothing behind', async () => {
  const { exit, out } = demo();
  expect([await exit, out.stderr]).toEqual([{ code: 0, signal: null }, expect.any(String)]);
  const lines = out.stdout.split('\n').map((line) => line.replace(/127\.0\.0\.1:\d+/, 'GATEWAY').trim());
  const paths = lines.filter((line) => line.startsWith('"path"')).map((line) => /reviews:\d/.exec(line)?.[0]);
  // Before the environment, with the key, without it, and with the key after the deletion.
  expect(paths).toEqual(['reviews:1', 'reviews:2', 'reviews:1', 'reviews:1']);
  expect(lines).toEqual(
    expect.arrayContaining([
      '$ curl http://GATEWAY/',
      '$ cat pr-7.yaml',
      '$ offshoot env plan -f pr-7.yaml',
      '+ Deployment playground/reviews-playground-pr-7',
      '$ offshoot env create -f pr-7.yaml --wait',
      "$ curl -H 'x-env: pr-7' http://GATEWAY/",
      "$ offshoot explain http://reviews:8080/ -n playground -H 'x-env: pr-7'",
      '$ offshoot prove pr-7 -n playground',
      expect.stringMatching(/^✓ playground\/pr-7 is isolated/),
      '$ offshoot env delete pr-7 pr-8 -n playground',
      'Every route and workload of the shop is as it was before, and no other object is left.',
    ]),
  );
  expect(out.stderr).toContain('did you mean reviews?');
  expect(out.stderr).toContain(
    'error: environment playground/pr-8 is degraded: playground/reviews: all of its requests',
  );
  expect(left()).toEqual([]);
}, 120_000);

test('ends on Ctrl-C, and leaves nothing behind', async () => {
  const { child, exit, out } = demo();
  await until(() => out.stdout.includes('env create'), 60_000);
  child.kill('SIGINT');
  expect([await exit, left()]).toEqual([{ code: 130, signal: null }, []]);
}, 120_000);
