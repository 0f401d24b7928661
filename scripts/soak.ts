// Runs the test suite repeatedly, every second time with two busy processes in parallel, and counts the failures:
//   npm run soak -- [--times N] [--from M] [filters and options of vitest …]
// With --from, it continues with run M of N.
// Each run has its own seed, unless OFFSHOOT_SEED is set, and sends more requests to the real mesh than a normal run.
// In runs without busy processes, controllers that crash see answers and events late, at random.
// Without filters or options, environments are also created and deleted on the real node.
// Exits with code 1 if anything failed; the logs of failed runs are kept.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { failuresOf, tableOf } from './soak/tally.ts';
import type { Report, Run } from './soak/tally.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const VITEST = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
/** Requests to the real mesh, in all runs together. */
const REQUESTS = 100_000;
/** Comparisons with and without random environments, in all runs together. */
const TRIPLES = 1_000_000;
/** How often environments are created, changed and deleted under load: per run on loopback, in total on the node. */
const CYCLES = 30;
const ON_THE_NODE = ['--config', 'vitest.node.config.ts', 'test/node/traffic.test.ts'];
/** Exits when its parent process is gone. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e7; i++);';

const { times, from, rest } = parseArguments(process.argv.slice(2));
const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-soak-'));
const runs: Run[] = [];
const interrupt = new AbortController();
// Vitest also gets the signal and exits.
process.once('SIGINT', () => interrupt.abort());

for (let number = from; number <= times && !interrupt.signal.aborted; number++) {
  const started = performance.now();
  const run = await runOnce(number);
  if (interrupt.signal.aborted) break;
  runs.push(run);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`run ${number} of ${times}${run.busy ? ', busy' : ''}: ${run.failed.length} failed in ${seconds} s`);
}

const hasFailed = runs.some(({ failed }) => failed.length > 0);
console.log(`\n${tableOf(runs)}`);
if (hasFailed) console.log(`\nlogs: ${dir}`);
else rmSync(dir, { recursive: true });
process.exitCode = hasFailed || interrupt.signal.aborted ? 1 : 0;

async function runOnce(number: number): Promise<Run> {
  const busy = number % 2 === 0;
  const log = path.join(dir, `${number}${busy ? '-busy' : ''}.log`);
  const others = busy ? [0, 1].map(() => spawn(process.execPath, ['-e', BUSY], { stdio: 'ignore' })) : [];
  const output = openSync(log, 'w');
  const settings = soakSettings(number);
  const failed = [...(await runVitest(rest, settings, output))];
  if (rest.length === 0 && !interrupt.signal.aborted)
    failed.push(...(await runVitest(ON_THE_NODE, { ...settings, OFFSHOOT_CYCLES: share(CYCLES) }, output)));
  await Promise.all(others.map((other) => (other.kill('SIGKILL'), ended(other))));
  if (failed.length === 0) rmSync(log);
  return { busy, failed };
}

/** Runs Vitest once; returns the failures. */
async function runVitest(
  options: readonly string[],
  env: NodeJS.ProcessEnv,
  output: number,
): Promise<readonly string[]> {
  const json = path.join(dir, 'report.json');
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${json}`, ...options];
  const exit = await ended(
    spawn(process.execPath, [VITEST, ...args], {
      cwd: ROOT,
      stdio: ['ignore', output, output],
      env: { ...env, ...process.env },
    }),
  );
  const report = existsSync(json) ? (JSON.parse(readFileSync(json, 'utf8')) as Report) : undefined;
  rmSync(json, { force: true });
  return failuresOf(report, exit, ROOT);
}

function share(all: number): string {
  return String(Math.ceil(all / times));
}

/** Sets another seed for each run, and its share of the total numbers of requests and comparisons. */
function soakSettings(number: number): NodeJS.ProcessEnv {
  return {
    OFFSHOOT_SEED: String(number * 1_000),
    OFFSHOOT_REQUESTS: share(REQUESTS),
    OFFSHOOT_TRIPLES: share(TRIPLES),
    OFFSHOOT_CYCLES: String(CYCLES),
    OFFSHOOT_WRITES_UNTIL_CRASH: '1',
    OFFSHOOT_JITTER_MS: number % 2 === 0 ? '0' : '60',
  };
}

/** Waits for a process; returns its exit code or signal. */
async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return String(child.exitCode ?? child.signalCode);
}

function parseArguments(args: readonly string[]): { times: number; from: number; rest: readonly string[] } {
  const rest = [...args];
  const numbers = { '--times': 10, '--from': 1 };
  for (;;) {
    const option = (['--times', '--from'] as const).find((each) => rest[0] === each || rest[0]?.startsWith(`${each}=`));
    if (option === undefined) break;
    const [first = ''] = rest.splice(0, 1);
    const text = first === option ? (rest.shift() ?? '') : first.slice(option.length + 1);
    if (!/^[1-9]\d*$/.test(text)) refuse(`${option} must be a whole number of at least 1, found "${text}"`);
    numbers[option] = Number(text);
  }
  const { '--times': times, '--from': from } = numbers;
  if (from > times) refuse(`--from must be at most --times, which is ${times}, found ${from}`);
  return { times, from, rest };
}

function refuse(problem: string): never {
  console.error(`error: ${problem}`);
  process.exit(1);
}
