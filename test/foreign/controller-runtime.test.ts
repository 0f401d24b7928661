// The test suites of controller-runtime on the embedded cluster, as they run on envtest: an API server without
// controllers. KUBECONFIG_TEST=FILE runs them on that cluster instead.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startEmbedded } from '../../src/embedded/index.ts';
import { controllerRuntime, suites } from '../programs/controller-runtime.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeNeeding } from '../support/needs.ts';
import { runSuite } from './suite.ts';

interface Known {
  readonly reason: string;
  readonly suite: string;
  readonly specs: readonly string[];
}

const known = parse(readFileSync(path.join(import.meta.dirname, 'known.yaml'), 'utf8')) as readonly Known[];
const found = findPrograms(controllerRuntime);
const need = {
  what: 'the suites of controller-runtime',
  missing: 'missing' in found ? found.missing : undefined,
  variable: 'OFFSHOOT_FOREIGN',
};
/** Specs that make what the one before has left behind: each gets a cluster of its own. */
const apart: Readonly<Record<string, readonly string[]>> = {
  'manager/internal/integration': ['warmup enabled', 'warmup not enabled'],
};
const leastSpecs = 1000;
const timeout = 6 * 60_000;

/** Calls `use` with the kubeconfig of a cluster that nobody else uses. */
async function withCluster<T>(use: (kubeconfig: string) => Promise<T>): Promise<T> {
  const given = process.env['KUBECONFIG_TEST'];
  if (given !== undefined) return use(given);
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-foreign-'));
  const embedded = await startEmbedded({ simulation: false });
  try {
    const kubeconfig = path.join(dir, 'kubeconfig');
    writeFileSync(kubeconfig, embedded.kubeconfig(), { mode: 0o600 });
    return await use(kubeconfig);
  } finally {
    await embedded.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

describeNeeding('controller-runtime', [need], () => {
  let passed = 0;

  test.concurrent.each(suites)('%s', { timeout }, async (suite) => {
    const failed = new Map<string, string>();
    for (const focus of apart[suite] ?? [undefined]) {
      const dir = 'dir' in found ? found.dir : '';
      const outcome = await withCluster((kubeconfig) => runSuite(dir, suite, kubeconfig, focus));
      for (const [name, why] of outcome.failed) failed.set(name, why);
      passed += outcome.passed.length;
    }
    const expected = known.filter((entry) => entry.suite === suite).flatMap(({ specs }) => specs);
    const unknown = [...failed].filter(([name]) => !expected.includes(name));
    const stale = expected.filter((name) => !failed.has(name));
    expect({ unknown, stale }).toEqual({ unknown: [], stale: [] });
  });

  test('at least 1,000 specs pass', () => {
    console.log(`controller-runtime: ${passed} specs passed`);
    expect(passed).toBeGreaterThanOrEqual(leastSpecs);
  });
});
