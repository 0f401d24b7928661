// A billion pods are created in small batches, and other requests are served meanwhile.
import { expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { startEmbedded } from '../server.ts';
import { testClient } from '../testing/http.ts';
import { expectNoStall } from '../testing/longest-turn.ts';

const BILLION = 1_000_000_000;

const apps = '/apis/apps/v1/namespaces/default';
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const containers = [{ name: 'a', image: 'a' }];
const selected = {
  selector: { matchLabels: { app: 'a' } },
  template: { metadata: { labels: { app: 'a' } }, spec: { containers } },
};
const work = {
  parallelism: BILLION,
  completions: BILLION,
  template: { spec: { containers, restartPolicy: 'Never' } },
};

test.each<[string, string, object]>([
  ['a Deployment', `${apps}/deployments`, { ...selected, replicas: BILLION }],
  [
    'a parallel StatefulSet',
    `${apps}/statefulsets`,
    { ...selected, replicas: BILLION, serviceName: 'a', podManagementPolicy: 'Parallel' },
  ],
  ['a Job', jobs, work],
  ['an indexed Job', jobs, { ...work, parallelism: 100_000, completionMode: 'Indexed' }],
])('%s with a billion pods does not block other requests', { timeout: 60_000 }, async (_title, path, spec) => {
  const embedded = await startEmbedded();
  const client = testClient(embedded);
  try {
    const pods = (): number => embedded.store.list('pods', { namespace: 'default' }).length;
    await expectNoStall(async () => {
      expect((await client.post(path, { metadata: { name: 'many' }, spec })).code).toBe(201);
      await until(() => pods() > 1_000, 50_000);
    });
  } finally {
    client.close();
    await embedded.stop();
  }
});
