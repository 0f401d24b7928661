import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { failuresOf, tableOf } from './tally.ts';

const SOAK = path.resolve(import.meta.dirname, '../soak.ts');
const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-soaked-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function soak(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SOAK, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

// Each test starts Vitest, with busy processes in parallel.
describe('npm run soak', { timeout: 120_000 }, () => {
  test('runs the given number of times, counts failures, keeps their logs, and exits with code 1', async () => {
    const test = `import { execFileSync } from 'node:child_process';
      import { appendFileSync, readFileSync } from 'node:fs';
      const count = import.meta.dirname + '/count';
      test('every second time', () => {
        appendFileSync(count, 'x');
        expect(readFileSync(count, 'utf8').length % 2).toBe(1);
      });
      // The busy processes are children of the process that started Vitest, whose child this is.
      test('next to busy processes', () => {
        const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
        const all = text.split('\\n').map((line) => line.trim().split(/ +/));
        const soak = all.find(([pid]) => pid === String(process.ppid))[1];
        const busy = all.filter(([, parent, ...args]) => parent === soak && args.includes('1e7;'));
        expect(busy).toHaveLength(readFileSync(count, 'utf8').length % 2 === 1 ? 0 : 2);
      });
      test('never', () => expect(1).toBe(1));`;
    writeFileSync(path.join(dir, 'shaky.test.js'), test);
    const { code, output } = await soak('--times', '2', '--root', dir, '--globals', 'shaky');
    expect(output).toMatch(/^run 1 of 2: 0 failed in \d+ s\nrun 2 of 2, busy: 1 failed in \d+ s\n/);
    expect(output).toContain(
      `FAILED  QUIET   BUSY    TEST\n1/2     0/1     1/1     ${dir}/shaky.test.js: every second`,
    );
    expect(code).toBe(1);
    const logs = /^logs: (.+)$/m.exec(output)![1]!;
    expect(readdirSync(logs)).toEqual(['2-busy.log']);
    expect(readFileSync(path.join(logs, '2-busy.log'), 'utf8')).toContain('expected +0 to be 1');
    rmSync(logs, { recursive: true });
  });

  test('exits with code 0 when nothing failed', async () => {
    writeFileSync(path.join(dir, 'steady.test.js'), `test('always', () => expect(1).toBe(1));`);
    const { code, output } = await soak('--times=1', '--root', dir, '--globals', 'steady');
    expect([code, output.split('\n').at(-2)]).toEqual([0, 'nothing failed in 1 run']);
  });

  test('continues with a later run', async () => {
    writeFileSync(path.join(dir, 'later.test.js'), `test('later', () => expect(1).toBe(1));`);
    const { code, output } = await soak('--times', '3', '--from', '3', '--root', dir, '--globals', 'later');
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(/^run 3 of 3: 0 failed in \d+ s\n\nnothing failed in 1 run\n$/),
    ]);
  });

  test.each([
    [['--times', 'often'], '--times must be a whole number of at least 1, found "often"'],
    [['--times', '3', '--from', '4'], '--from must be at most --times, which is 3, found 4'],
  ])('refuses %j', async (args, problem) => {
    expect(await soak(...args)).toEqual({ code: 1, output: `error: ${problem}\n` });
  });
});

describe('failuresOf', () => {
  const file = (status: string, ...tests: [string, string][]) => ({
    name: '/repo/test/a.test.ts',
    status,
    assertionResults: tests.map(([fullName, of]) => ({ fullName, status: of })),
  });

  test.each([
    ['a failed test', file('failed', ['good', 'passed'], ['bad', 'failed']), '1', ['test/a.test.ts: bad']],
    ['a failed hook or file', file('failed', ['unrun', 'skipped']), '1', ['test/a.test.ts']],
    ['a failed run', file('passed', ['good', 'passed']), '1', ['(no test failed, but the run ended with 1)']],
    ['nothing', file('passed', ['good', 'passed']), '0', []],
  ])('reports %s', (_name, result, exit, failed) => {
    expect(failuresOf({ testResults: [result] }, exit, '/repo')).toEqual(failed);
  });

  test('reports a failed run without a report', () => {
    expect(failuresOf(undefined, 'SIGKILL', '/repo')).toEqual(['(no test failed, but the run ended with SIGKILL)']);
  });

  test('are sorted by frequency in the table', () => {
    const runs = [
      { busy: false, failed: ['a'] },
      { busy: true, failed: ['a', 'b'] },
      { busy: false, failed: ['b'] },
      { busy: true, failed: ['b'] },
    ];
    expect(tableOf(runs).split('\n')).toEqual([
      'FAILED  QUIET   BUSY    TEST',
      '3/4     1/2     2/2     b',
      '2/4     1/2     1/2     a',
    ]);
  });
});
