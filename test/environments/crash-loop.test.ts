// A clone without a readiness probe that crashes again and again is ready between its crashes: its environment is not.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { Deployment, Pod } from '../../src/environments/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, makeWorkload } from './workload.ts';

describeClusters('crash loop', (cluster) => {
  let manager: Manager;

  beforeAll(async () => {
    const client = cluster.client();
    await installKinds(client);
    const logger = createLogger({ level: 'error' });
    manager = new Manager({ client, controllers: [environments({ settleMs: 0 })], logger });
    await manager.start();
  });

  afterAll(() => manager.stop());

  test('an environment does not alternate between ready and not', { timeout: 60_000 }, async () => {
    const client = cluster.client();
    const namespace = await cluster.namespace('crash-loop');
    await makeWorkload(client, namespace, 'cart');
    const annotations = { 'offshoot.dev/simulate': 'crash=1s' };
    const patch = { type: 'merge', body: { spec: { replicas: 0, template: { metadata: { annotations } } } } } as const;
    await client.patch(Deployment, { name: 'cart', namespace }, patch);
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    await client.create(DynamicEnv, env);

    const seen: string[] = [];
    await until(async () => {
      const { status } = await client.get(DynamicEnv, env.metadata);
      const routed = status?.conditions?.find(({ type }) => type === 'Routed');
      const now = `${status?.state} ${routed?.reason} ${status?.subsetsStatus[`${namespace}/cart`]?.deployment.message}`;
      if (seen.at(-1) !== now) seen.push(now);
      const pods = await client.list(Pod, { namespace, labelSelector: 'dynamic-env=true' });
      return pods.items.some(({ status: pod }) => (pod?.containerStatuses?.[0]?.restartCount ?? 0) > 3);
    }, 40_000);
    const crash = 'processing NotAnswered CrashLoopBackOff: container cart: ended with exit code 1 (Error)';
    expect(seen).toContain(crash);
    expect(seen.slice(seen.indexOf(crash))).toEqual([crash]);
  });
});
