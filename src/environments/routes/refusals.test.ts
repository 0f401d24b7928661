import { expect, test } from 'vitest';
import { factsOf } from '../../controller/index.ts';
import type { ChoreContext } from '../../controller/index.ts';
import { untracked } from '../../watchable/index.ts';
import { environment, routes, tablesWith } from '../testing/orphan-world.ts';
import { forgetRefusals, refusalKey, refusedAgain, routeRefusals } from './refusals.ts';

test('forgetRefusals removes refusals of deleted environments and VirtualServices', async () => {
  const tables = tablesWith(environment('feature'), routes);
  const refusals = routeRefusals();
  const owner = { version: 'shop-feature', taken: [] };
  const wish = { environment: 'shop/feature', owner, matches: [], insertions: [], untouched: [] };
  const there = refusalKey('shop/cart', 'shop/feature');
  const gone = [refusalKey('shop/cart', 'shop/gone'), refusalKey('shop/gone', 'shop/feature')];
  for (const id of [there, ...gone]) refusals.store(id, refusedAgain(undefined, wish, routes, 'no', 0));
  await forgetRefusals(refusals).run({ facts: factsOf(tables, untracked) } as ChoreContext);
  expect([...refusals.keys()]).toEqual([there]);
});
