import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { createLogger, factsOf } from '../../controller/index.ts';
import type { ChoreContext } from '../../controller/index.ts';
import { describe as describeStep, keyOf, objectOf } from '../../kube/index.ts';
import type { Kind, KubeObject, Ref, Tables } from '../../kube/index.ts';
import { untracked } from '../../watchable/index.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { orphanChore } from './orphan-chore.ts';
import { defaultSettings } from '../settings.ts';
import { baseRoute, clone, environment, routes, rule, tablesWith } from '../testing/orphan-world.ts';

let tables: Tables;
let clock: FakeClock;
/** Reads, writes and Events, in order. */
let log: string[];
/** Warnings in the log of the controllers, without level and time. */
let warnings: object[];
/** Objects on the server that are not in the tables yet. */
let unseen: KubeObject[];

/** Steps take effect in the tables at once. */
const site: ChoreContext = {
  get tables() {
    return tables;
  },
  get facts() {
    return factsOf(tables, untracked);
  },
  get clock() {
    return clock;
  },
  logger: createLogger({
    level: 'warn',
    format: 'json',
    write: (line) => {
      const { level: _level, time: _time, ...rest } = JSON.parse(line) as Record<string, unknown>;
      warnings.push(rest);
    },
  }),
  apply: (steps) => {
    for (const step of steps) {
      log.push(`${step.do} ${describeStep(step)}`);
      const object = objectOf(step);
      const metadata = { ...object.metadata, resourceVersion: '2' };
      if (step.do === 'remove') tables.of(step.kind).observeDeleted(object);
      else tables.of(step.kind).observe({ ...object, metadata });
    }
    return Promise.resolve([]);
  },
  throwUnlessMayWrite: () => {},
  record: (object, { reason, note }) => log.push(`${reason} ${keyOf(object.metadata)}: ${note}`),
  read: <T extends KubeObject>(kind: Kind<T>, ref: Ref) => {
    log.push(`read ${keyOf(ref)}`);
    const found = unseen.find(({ metadata }) => keyOf(metadata) === keyOf(ref)) as T | undefined;
    if (found !== undefined) tables.of(kind).observe(found);
    return Promise.resolve(found);
  },
};

beforeEach(() => {
  tables = tablesWith(clone, rule, routes);
  clock = new FakeClock();
  log = [];
  warnings = [];
  unseen = [];
});

describe('orphans', () => {
  test('are reported at once and removed after ten minutes, routes first', async () => {
    const chore = orphanChore(defaultSettings);
    await chore.run(site);
    const gone = 'environment shop/feature is gone, but its finalizers did not run';
    expect(log.splice(0)).toEqual([
      `Orphaned shop/cart: ${gone}: its routes are removed in 10 minutes`,
      `Orphaned shop/cart-shop-feature-cart: ${gone}: it is removed in 10 minutes`,
      `Orphaned shop/cart-shop-feature: ${gone}: it is removed in 10 minutes`,
    ]);
    await clock.advance(599_000);
    await chore.run(site);
    expect(log).toEqual([]);
    await clock.advance(1_000);
    await chore.run(site);
    expect(log.splice(0)).toEqual(['read shop/feature', 'edit VirtualService shop/cart']);
    const left = tables.of(VirtualService).get('shop/cart');
    expect(left?.spec?.http).toEqual([baseRoute]);
    expect(left?.metadata.annotations?.[WATCH_ANNOTATION]).toBe('');
    await chore.run(site);
    expect(log.splice(0)).toEqual([
      'read shop/feature',
      'remove DestinationRule shop/cart-shop-feature-cart',
      'remove Deployment shop/cart-shop-feature',
    ]);
    await chore.run(site);
    expect(log).toEqual([]);
  });

  test('are logged once, with the doubt about those that get no Event', async () => {
    tables = tablesWith(clone, { ...rule, metadata: { ...rule.metadata, managedFields: [] } });
    const chore = orphanChore(defaultSettings);
    await chore.run(site);
    const msg = 'orphan: the environment that it was created for is gone';
    const of = { environment: 'shop/feature', msg };
    expect(warnings.splice(0)).toEqual([
      {
        object: 'DestinationRule shop/cart-shop-feature-cart',
        doubt: 'its managedFields do not say that Offshoot applied it',
        ...of,
      },
      { object: 'Deployment shop/cart-shop-feature', ...of },
    ]);
    expect(log).toEqual([expect.stringMatching(/^Orphaned shop\/cart-shop-feature: /)]);
    await chore.run(site);
    expect(warnings).toEqual([]);
  });

  test('get the whole grace period again if their environment existed for a moment', async () => {
    const chore = orphanChore(defaultSettings);
    await chore.run(site);
    await clock.advance(599_000);
    const env = { ...environment('feature'), metadata: { ...environment('feature').metadata, resourceVersion: '2' } };
    tables.of(DynamicEnv).observe(env);
    await chore.run(site);
    tables.of(DynamicEnv).observeDeleted(env);
    await clock.advance(1_000);
    log = [];
    await chore.run(site);
    expect(log.filter((line) => !line.startsWith('Orphaned'))).toEqual([]);
  });

  test('are kept if a last read finds their environment', async () => {
    const chore = orphanChore({ ...defaultSettings, orphanGraceMs: 0 });
    unseen = [{ ...environment('feature'), metadata: { ...environment('feature').metadata, resourceVersion: '2' } }];
    await chore.run(site);
    log = [];
    await chore.run(site);
    expect(log).toEqual([]);
    expect(tables.of(DynamicEnv).get('shop/feature')).toBeDefined();
  });

  test('are kept while a route that is not ours leads to them', async () => {
    const copied = { ...routes, metadata: { ...routes.metadata, managedFields: [] } };
    tables = tablesWith(clone, rule, copied);
    const chore = orphanChore({ ...defaultSettings, orphanGraceMs: 0 });
    await chore.run(site);
    expect(log.filter((line) => !line.startsWith('Orphaned'))).toEqual([]);
  });

  test('are only reported if their removal is turned off', async () => {
    const chore = orphanChore({ ...defaultSettings, removeOrphans: false, orphanGraceMs: 0 });
    await chore.run(site);
    await chore.run(site);
    expect(log).toHaveLength(3);
    expect(log[2]).toMatch(/: it is left for you to remove$/);
  });
});
