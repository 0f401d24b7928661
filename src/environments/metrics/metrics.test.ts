import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { routeName } from '../../traffic/istio/inserted-routes.ts';
import { defaultSettings } from '../settings.ts';
import { environmentGauges } from './gauges.ts';
import { timeToReady } from './time-to-ready.ts';

const CREATED = Date.parse('2026-01-01T00:00:00Z');

function environment(name: string, state?: string, conditions: readonly object[] = [], spec: object = {}): DynamicEnv {
  const metadata = { name, namespace: 'team', uid: name, generation: 1, creationTimestamp: timestamp(CREATED) };
  const status = state === undefined ? {} : { status: { state, subsetsStatus: {}, conditions } };
  return { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata, spec, ...status } as DynamicEnv;
}

describe('gauges', () => {
  const condition = (type: string, status: string, reason: string): object => ({ type, status, reason, message: '' });
  const service = (name: string, route: string, observedGeneration: number): KubeObject =>
    ({
      metadata: { name, namespace: 'team', generation: 2 },
      spec: { http: [{ name: route }] },
      status: { observedGeneration, conditions: [{ type: 'Reconciled', status: 'True' }] },
    }) as unknown as KubeObject;
  const objects = new Map<string, readonly KubeObject[]>([
    [
      DynamicEnv.kind,
      [
        environment('a', 'ready', [condition('Isolated', 'True', 'Isolated'), condition('Ready', 'True', 'Ready')]),
        environment('b', 'ready', [condition('Isolated', 'True', 'Isolated')]),
        environment('c', 'degraded', [condition('Isolated', 'Unknown', 'RefusedByProxy')]),
        environment('d', 'ready', [], { paused: true }),
        environment('e'),
      ],
    ],
    [
      VirtualService.kind,
      [
        service('behind', routeName('v', 'w', '0123456789'), 1),
        service('current', routeName('v', 'w', '0123456789'), 2),
        service('of-others', 'x', 1),
      ],
    ],
  ]);
  const facts = {
    list: (kind: AnyKind) => objects.get(kind.kind) ?? [],
    served: () => false,
  } as unknown as Facts;
  const gauges = environmentGauges(defaultSettings);
  const values = (name: string): unknown =>
    Object.fromEntries(
      [...gauges.find((each) => each.name === name)!.series(facts)].map(({ labels, value }) => [
        Object.values(labels).join(' '),
        value,
      ]),
    );

  test('count environments by state, with 0 for unused states', () => {
    expect(values('offshoot_environments')).toEqual({
      pending: 1,
      processing: 0,
      ready: 2,
      degraded: 1,
      paused: 1,
      asleep: 0,
      deleting: 0,
    });
  });

  test('count proofs by result, and conditions by reason', () => {
    expect(values('offshoot_proofs')).toEqual({ proved: 2, refuted: 0, undecided: 1 });
    expect(values('offshoot_environment_conditions')).toEqual({
      'Isolated True Isolated': 2,
      'Ready True Ready': 1,
      'Isolated Unknown RefusedByProxy': 1,
    });
  });

  test('count only VirtualServices with routes of environments as undistributed', () => {
    expect(values('offshoot_undistributed_virtual_services')).toEqual({ '': 1 });
  });
});

describe('time to ready', () => {
  const ready = (status: string, sinceMs: number): DynamicEnv =>
    environment('a', 'processing', [
      { type: 'Ready', status, reason: 'x', message: '', lastTransitionTime: timestamp(CREATED + sinceMs) },
    ]);
  const measured = (before: DynamicEnv, after: DynamicEnv, afterMs: number): number | undefined =>
    timeToReady.measure(before, after, CREATED + afterMs)?.value;

  test('is measured from the creation', () => {
    expect(measured(environment('a'), ready('True', 3_000), 3_000)).toBe(3);
    expect(measured(ready('False', 1_000), ready('True', 90_000), 90_000)).toBe(90);
  });

  test('is not measured while it is not ready, again once it is ready, or after it broke', () => {
    expect(measured(environment('a'), ready('False', 1_000), 1_000)).toBeUndefined();
    expect(measured(ready('True', 1_000), ready('True', 1_000), 9_000)).toBeUndefined();
    expect(measured(ready('False', 3_600_000), ready('True', 3_700_000), 3_700_000)).toBeUndefined();
  });
});
