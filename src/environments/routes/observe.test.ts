import { expect, test } from 'vitest';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { isDistributed, timeForProxies } from './observe.ts';

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
  ['no condition', service(), undefined],
  [
    'only other conditions',
    service({ observedGeneration: 3, conditions: [{ type: 'Valid', status: 'True' }] }),
    undefined,
  ],
  ['no observed generation', reconciled('True'), undefined],
  ['an older generation', reconciled('True', 2), false],
  ['the condition False', reconciled('False', 3), false],
  ['the condition True', reconciled('True', 3), true],
  ['the condition True and the generation as text', reconciled('True', '3'), true],
])('isDistributed reads the status of a VirtualService with %s', (_what, each, is) => {
  expect(isDistributed(each)).toBe(is);
});

test('timeForProxies waits for the status of the mesh, or else for the settle time', () => {
  const wait = (routed: readonly VirtualService[], heldMs: number, settleMs = 1_000): number =>
    timeForProxies({ heldFor: () => heldMs }, routed, { settleMs });
  expect(wait([], 0)).toBe(0);
  expect([wait([service()], 0), wait([service()], 400), wait([service()], 1_000)]).toEqual([1_000, 600, 0]);
  expect(wait([service()], 0, 0)).toBe(0);
  expect(wait([reconciled('True', 3)], 0)).toBe(0);
  expect([wait([reconciled('False', 3)], 5_000), wait([reconciled('False', 3)], 10_000)]).toEqual([5_000, 0]);
  expect(wait([reconciled('True', 3), service()], 0)).toBe(1_000);
});
