// Environments and the routing model share tables in one process, each with its own indexes.
import { expect, test } from 'vitest';
import { environmentTables } from '../../src/environments/index.ts';
import { factsOf } from '../../src/controller/index.ts';
import { Tables } from '../../src/kube/index.ts';
import { routerOf, worldTables } from '../../src/traffic/index.ts';
import { untracked } from '../../src/watchable/index.ts';

test('environments and the routing model share tables', () => {
  const facts = factsOf(new Tables([...environmentTables, ...worldTables]), untracked);
  const request = { host: 'cart.shop', port: 80, path: '/', source: { namespace: 'shop' } };
  expect(routerOf(facts).decide(request)).toMatchObject({ kind: 'passthrough' });
});
