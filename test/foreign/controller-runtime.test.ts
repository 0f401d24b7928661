// The test suites of controller-runtime on the embedded cluster, as they run on envtest: an API server without
// controllers. And on a real API server with its controller manager: what passes there is what can be asked for here, and
// every difference is in known.yaml with its reason.
//
// Each suite has clusters of its own, for suites leave behind what others trip over. Both sides run at the same time,
// because they mostly wait: the real one adds less than two minutes.
import { expect, test } from 'vitest';
import type { RunningCluster } from '../cluster/own.ts';
import { startRealCluster } from '../cluster/real.ts';
import { controllerRuntime, suites } from '../programs/controller-runtime.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeNeeding } from '../support/needs.ts';
import { compare, readKnown } from './differences.ts';
import type { Side } from './differences.ts';
import { startEmbeddedProcess } from './embedded-process.ts';
import { runSuite } from './suite.ts';
import type { Outcome } from './suite.ts';

const known = readKnown();
const found = findPrograms(controllerRuntime);
const server = findPrograms(kubernetes);
const variable = 'OFFSHOOT_FOREIGN';
const missing = 'missing' in found ? found.missing : 'missing' in server ? server.missing : undefined;
const leastSpecs = 1000;
const timeout = 10 * 60_000;

/**
 * The suites are written for envtest, where nobody but the spec writes. They lose races with these controllers, and then
 * some wait for ever. The others run: those of namespaces, accounts, garbage, quotas, and so on.
 */
const racing = [
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'job',
  'node-lifecycle',
  'ttl',
  'root-ca-certificate-publisher',
];
const controllers = ['*', ...racing.map((name) => `-${name}-controller`)];

const clusters: Readonly<Record<Side, () => Promise<RunningCluster>>> = {
  embedded: startEmbeddedProcess,
  // envtest allows privileged containers too.
  real: () =>
    startRealCluster({
      scheduler: false,
      kubelet: false,
      controllers,
      extraApiServerArgs: ['--allow-privileged=true'],
    }),
};

/** Specs that make what the one before has left behind: each gets a cluster of its own. */
const apart: Readonly<Record<string, readonly string[]>> = {
  'manager/internal/integration': ['warmup enabled', 'warmup not enabled'],
};

/** Runs a suite on clusters that nobody else uses. */
async function outcomeOn(side: Side, suite: string): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const focus of apart[suite] ?? [undefined]) {
    const cluster = await clusters[side]();
    try {
      outcomes.push(await runSuite('dir' in found ? found.dir : '', suite, cluster.kubeconfigPath, { focus }));
    } finally {
      await cluster.stop();
    }
  }
  return {
    passed: outcomes.flatMap(({ passed }) => passed),
    failed: new Map(outcomes.flatMap(({ failed }) => [...failed])),
  };
}

describeNeeding('controller-runtime', [{ what: 'the suites of controller-runtime', missing, variable }], () => {
  const passed = { embedded: 0, real: 0 };

  test.concurrent.each(suites)('%s', { timeout }, async (suite) => {
    const [embedded, real] = await Promise.all([outcomeOn('embedded', suite), outcomeOn('real', suite)]);
    passed.embedded += embedded.passed.length;
    passed.real += real.passed.length;
    const entries = known.filter((entry) => entry.suite === suite);
    expect(compare({ embedded, real }, entries)).toEqual({ unknown: [], stale: [] });
  });

  test('at least 1,000 specs pass on the embedded cluster', () => {
    console.log(
      `controller-runtime: ${passed.embedded} specs passed on the embedded cluster, ${passed.real} on the real one`,
    );
    expect(passed.embedded).toBeGreaterThanOrEqual(leastSpecs);
  });
});
