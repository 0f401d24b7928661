// Environments come, change and go under load, with injected sidecars and mutual TLS. Offshoot runs as a pod.
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { describeNode } from './index.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';
import { installOffshoot } from './offshoot.ts';
import { makeShop, shopEnvironment, underLoad, urlOf } from './shop.ts';

const namespace = 'traffic';
const name = 'reviews';
const url = urlOf(name);
const rate = 500;

describeNode('an environment under load', (node) => {
  let kubectl: Kubectl;
  beforeAll(async () => {
    ({ kubectl } = node());
    await installOffshoot(kubectl);
    await makeShop(kubectl, namespace, name);
  }, 240_000);

  const ready = async (version: string): Promise<void> => {
    await apply(kubectl, shopEnvironment(namespace, name, version));
    await kubectl(['wait', '-n', namespace, 'dynamicenv/try', '--for=condition=Ready', '--timeout=60s']);
    await kubectl(['rollout', 'status', '-n', namespace, `deployment/${name}-${namespace}-try`, '--timeout=60s']);
  };

  test('requests without its key never fail or stray, and with it they neither fail', async () => {
    const life = (async () => {
      await ready('one');
      const alice = await underLoad(kubectl, { namespace, url, rate: 100, header: 'end-user=alice' }, delay(1_000));
      expect(Object.keys(alice.versions)).toEqual(['one']);
      await ready('two');
      await kubectl(['delete', '-n', namespace, 'dynamicenv/try', '--timeout=60s']);
    })();
    const load = { namespace, url, rate };
    const [others, alice] = await Promise.all([
      underLoad(kubectl, load, life),
      underLoad(kubectl, { ...load, header: 'end-user=alice' }, life),
      life,
    ]);
    process.stderr.write(
      `real node: ${others.sent + alice.sent} requests while an environment came, changed and went\n`,
    );
    expect(others.failures).toEqual([]);
    expect(Object.keys(others.versions)).toEqual(['shared']);
    expect(alice.failures).toEqual([]);
    expect(alice.versions).toMatchObject({ shared: expect.any(Number), one: expect.any(Number) });
    expect(others.sent).toBeGreaterThan(rate);
  });
});
