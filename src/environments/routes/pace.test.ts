// A VirtualService is written at most once in 100 ms, whatever happens: istiod sends every version to every proxy.
import { expect, onTestFinished, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { environment, makeWorkload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import { ApiError } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { defaultSettings, environments } from '../index.ts';
import { PACE_MS } from './write.ts';

const SETTINGS = { ...defaultSettings, routeAfterMs: 0, settleMs: 0, drainMs: 0 };
const cart = { name: 'cart', namespace: 'shop' };

/** A shop whose controllers run by a clock that stands still, and the times at which its VirtualService is written. */
async function openShop() {
  const [api, clock] = [new FakeApi(), new FakeClock()];
  api.now = () => clock.now();
  const times: number[] = [];
  let refuses = (_service: string): boolean => false;
  await makeWorkload(api, 'shop', 'cart');
  api.admit = (object) => {
    if (object.kind !== VirtualService.kind) return;
    if (refuses(JSON.stringify(object['spec']))) throw new ApiError('no', { code: 400, reason: 'BadRequest' });
    times.push(clock.monotonic());
  };
  const logger = createLogger({ level: 'silent' });
  const manager = new Manager({ client: api, controllers: environments(SETTINGS), clock, logger });
  await manager.start();
  onTestFinished(() => manager.stop());
  return {
    times,
    /** In small steps: controllers also do what takes no time. */
    advance: async (ms: number) => {
      for (let i = 0; i < ms / 20; i++) await clock.advance(20);
    },
    create: (name: string) => {
      const { spec, ...env } = environment('shop', name, [cart]);
      return api.create(DynamicEnv, { ...env, spec: { key: name, subsets: spec.subsets } });
    },
    refuse: (test: typeof refuses) => void (refuses = test),
    routed: async () => {
      const { spec } = await api.get(VirtualService, cart);
      const subsets = (spec?.http ?? []).flatMap(({ route = [] }) =>
        route.map(({ destination }) => destination?.subset),
      );
      return new Set(subsets.filter((subset) => subset !== 'shared')).size;
    },
  };
}

const gapsOf = (times: readonly number[]): number[] => times.slice(1).map((time, i) => time - times[i]!);

test('environments that are created one after the other share the writes of a VirtualService', async () => {
  const shop = await openShop();
  for (let i = 0; i < 15; i++) {
    await shop.create(`e${i}`);
    await shop.advance(20);
  }
  await shop.advance(1_000);
  expect(await shop.routed()).toBe(15);
  expect(shop.times.length).toBeGreaterThan(2);
  expect(Math.min(...gapsOf(shop.times))).toBeGreaterThanOrEqual(PACE_MS);
});

test('the parts of a refused write have the same distance', async () => {
  const shop = await openShop();
  shop.refuse((spec) => spec.includes('shop-e5"'));
  for (let i = 0; i < 8; i++) await shop.create(`e${i}`);
  await shop.advance(2_000);
  expect(await shop.routed()).toBe(7);
  expect(shop.times.length).toBeGreaterThan(2);
  expect(Math.min(...gapsOf(shop.times))).toBeGreaterThanOrEqual(PACE_MS);
});
