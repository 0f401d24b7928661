// Runs the test suites of controller-runtime on the embedded cluster as on envtest, an API server without controllers,
// and on a real API server with its controller manager. A spec that passes there must pass here; known.yaml lists every
// difference with its reason.
//
// Each suite gets its own clusters, because suites leave objects behind that make others fail. Both sides run at the
// same time, because they mostly wait: the real one adds less than two minutes.
import { expect, test } from 'vitest';
import type { RunningCluster } from '../cluster/own.ts';
import { startRealCluster } from '../cluster/real.ts';
import { controllerRuntime, suites } from '../programs/controller-runtime.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import { describeRequiring } from '../support/requirements.ts';
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
 * The suites are written for envtest, where only the spec writes. They lose races with these controllers, and then some
 * wait forever. The other controllers run: namespaces, service accounts, garbage collection, quotas, and so on.
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

/** Specs that create an object which another spec has left behind: each gets its own cluster. */
const apart: Readonly<Record<string, readonly string[]>> = {
  'manager/internal/integration': ['warmup enabled', 'warmup not enabled'],
};

/** Runs a suite on its own clusters. */
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

describeRequiring('controller-runtime', [{ what: 'the suites of controller-runtime', missing, variable }], () => {
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
