// The embedded cluster against a real API server: sends every scenario of the corpus to both, compares the responses.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { loadConfig } from '../src/kube/client/config/kubeconfig.ts';
import { describeReal } from './cluster/index.ts';
import { sharedRealCluster } from './cluster/shared.ts';
import { answerDifferences, differenceText } from './differential/compare.ts';
import { corpus } from './differential/corpus/index.ts';
import { endpointOf } from './differential/endpoint.ts';
import type { Answer, Endpoint } from './differential/endpoint.ts';
import { compareWithKnown, requestName } from './differential/known.ts';
import { play, removeNamespace } from './differential/play.ts';
import type { Scenario } from './differential/scenario.ts';
import { startWebhook } from './differential/webhook.ts';
import type { Webhook } from './differential/webhook.ts';

test('the corpus is large, and the names of its scenarios are unique', () => {
  const scenarios = Object.values(corpus).flat();
  expect(scenarios.flatMap(({ steps }) => steps).length).toBeGreaterThan(1_000);
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length);
});

describeReal('embedded and real servers answer alike', () => {
  let server: Embedded;
  let embedded: Endpoint;
  let real: Endpoint;
  let webhook: Webhook;
  const namespaces: string[] = [];

  beforeAll(async () => {
    server = await startEmbedded();
    webhook = await startWebhook();
    const { url, caPem, admin } = server;
    embedded = endpointOf({ server: url, caPem, certPem: admin.certPem, keyPem: admin.keyPem });
    real = endpointOf(loadConfig({ path: (await sharedRealCluster()).kubeconfigPath }));
  });

  afterAll(async () => {
    // Only now, because deletions slow down the controllers that the scenarios wait for.
    await Promise.all(namespaces.map((name) => removeNamespace(real, name)));
    embedded.close();
    real.close();
    webhook.close();
    await server.stop();
  });

  describe.concurrent.each(Object.entries(corpus))('%s', (_topic, scenarios) => {
    test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
      '%s',
      { timeout: 90_000 },
      async (_name, scenario) => {
        const namespace = `differential-${randomBytes(4).toString('hex')}`;
        namespaces.push(namespace);
        const [expected, found] = await Promise.all([
          play(scenario, namespace, real, webhook.names),
          play(scenario, namespace, embedded, webhook.names),
        ]);
        expect(report(scenario, expected, found)).toEqual([]);
      },
    );
  });
});

/** One line for each unknown difference, and for each known one that no longer occurs. */
function report(scenario: Scenario, expected: readonly Answer[], found: readonly Answer[]): string[] {
  const all = scenario.steps.flatMap((_step, index) => {
    const request = requestName(scenario, index);
    return answerDifferences(expected[index]!, found[index]!).map((difference) => ({ request, ...difference }));
  });
  const { unknown, stale } = compareWithKnown(scenario, all);
  return [
    ...unknown.map((difference) => `${difference.request} · ${differenceText(difference)}`),
    ...stale.map((entry) => `${entry.request} · take this out of known.yaml: ${differenceText(entry)}`),
  ];
}
