import { expect, test } from 'vitest';
import type { View } from '../../controller/index.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { isDistributed, timeForProxies } from './proxies.ts';

function service(status?: object): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'cart', namespace: 'shop', generation: 3 },
    ...(status && { status }),
  };
}

const reconciled = (status: string, observedGeneration?: number | string): VirtualService =>
  service({ conditions: [{ type: 'Reconciled', status }], ...(observedGeneration && { observedGeneration }) });

test.each([
  ['says nothing', service(), undefined],
  [
    'speaks of other things',
    service({ observedGeneration: 3, conditions: [{ type: 'Valid', status: 'True' }] }),
    undefined,
  ],
  ['does not say of which generation it speaks', reconciled('True'), undefined],
  ['speaks of an older generation', reconciled('True', 2), false],
  ['says that some proxies do not know it', reconciled('False', 3), false],
  ['says that all proxies know it', reconciled('True', 3), true],
  ['says so in the words of protobuf', reconciled('True', '3'), true],
])('a mesh that %s', (_what, each, is) => {
  expect(isDistributed(each)).toBe(is);
});

test('a status waits for what the mesh says, else for the settle time', () => {
  const wait = (routed: readonly VirtualService[], heldMs: number, settleMs = 1_000): number =>
    timeForProxies({ heldFor: () => heldMs } as unknown as View, routed, { settleMs });
  expect(wait([], 0)).toBe(0);
  expect([wait([service()], 0), wait([service()], 400), wait([service()], 1_000)]).toEqual([1_000, 600, 0]);
  expect(wait([service()], 0, 0)).toBe(0);
  expect(wait([reconciled('True', 3)], 0)).toBe(0);
  expect([wait([reconciled('False', 3)], 5_000), wait([reconciled('False', 3)], 10_000)]).toEqual([5_000, 0]);
  expect(wait([reconciled('True', 3), service()], 0)).toBe(1_000);
});
