// Compares the embedded cluster as a test environment for operators with that of envtest, etcd and kube-apiserver:
// start, creating objects, memory, and a test suite of controller-runtime, in turn on the same machine.
import { defineKind } from '../src/kube/index.ts';
import { runSuite } from '../test/foreign/suite.ts';
import { controllerRuntime } from '../test/programs/controller-runtime.ts';
import { kubernetes } from '../test/programs/kubernetes.ts';
import { findPrograms } from '../test/programs/programs.ts';
import { makePackage, residentMb, startReal, startTestBed } from './embedded-servers.ts';
import type { Package, Server } from './embedded-servers.ts';
import { inParallel } from './embedded-tasks.ts';
import { median, note, ratio, table, target } from './support.ts';

const ROUNDS = 3;
const OBJECTS = 1_000;
/** This suite sends requests all the time; others mostly wait. */
const SUITE = 'client';

const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');

interface Round {
  readonly startMs: number;
  readonly createMs: number;
  readonly suiteMs: number;
  readonly memoryMb: number;
}

/** Runs the benchmark and prints its table; returns true when all targets are met. */
export async function run(): Promise<boolean> {
  const [binaries, suites] = [findPrograms(kubernetes), findPrograms(controllerRuntime)];
  const missing = 'missing' in binaries ? binaries.missing : 'missing' in suites ? suites.missing : undefined;
  if (missing !== undefined || !('dir' in suites)) {
    console.log(`\nenvtest: not measured, ${missing}`);
    return true;
  }
  const made = await makePackage();
  try {
    return show(await measure(made, suites.dir));
  } finally {
    made.remove();
  }
}

interface Rounds {
  readonly ours: readonly Round[];
  readonly real: readonly Round[];
}

async function measure(made: Package, programs: string): Promise<Rounds> {
  const [ours, real]: [Round[], Round[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    real.push(await measureOne(startReal, programs));
    ours.push(await measureOne(() => startTestBed(made), programs));
  }
  return { ours, real };
}

async function measureOne(start: () => Promise<Server>, programs: string): Promise<Round> {
  const server = await start();
  try {
    const createMs = await timed(() =>
      inParallel(OBJECTS, 16, (index) =>
        server.client.create(ConfigMap, {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `object-${index}`, namespace: 'default' },
          data: { text: 'x'.repeat(1_000) },
        }),
      ),
    );
    const memoryMb = residentMb(server);
    const suiteMs = await timed(() => runSuite(programs, SUITE, server.kubeconfigPath));
    return { startMs: server.startMs, createMs, suiteMs, memoryMb };
  } finally {
    await server.stop();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function show({ ours, real }: Rounds): boolean {
  const of = (rounds: readonly Round[], key: keyof Round): number[] => rounds.map((round) => round[key]);
  const rows = (
    [
      ['start', 'startMs', ' ms', 10],
      [`create ${OBJECTS} objects of 1 KB, 16 at a time`, 'createMs', ' ms', 1],
      [`memory with ${OBJECTS} objects`, 'memoryMb', ' MB', 2],
      [`the suite ${SUITE} of controller-runtime`, 'suiteMs', ' ms', 1],
    ] as const
  ).flatMap(([name, key, unit, minRatio]) => [
    note(`${name}: embedded`, median(of(ours, key)), unit),
    note(`${name}: envtest`, median(of(real, key)), unit),
    target('envtest / embedded', ratio(of(real, key), of(ours, key)), minRatio, 'atLeast'),
  ]);
  return table('envtest: the embedded cluster without controllers beside etcd and kube-apiserver', rows);
}

if (import.meta.main) process.exit((await run()) ? 0 : 1);
