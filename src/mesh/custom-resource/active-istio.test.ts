import { expect, test } from 'vitest';
import type { Istio } from '../../api/istio.ts';
import { whyInactive, activeIstio } from './active-istio.ts';

const istio = (name: string, second: number, metadata: Partial<Istio['metadata']> = {}): Istio => ({
  apiVersion: 'operator.kyma-project.io/v1alpha2',
  kind: 'Istio',
  metadata: {
    name,
    namespace: 'kyma-system',
    uid: `uid-${name}`,
    creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    ...metadata,
  },
});

test('the older of two resources is active, in any order', () => {
  const [old, young] = [istio('z', 1), istio('a', 2)];
  expect(activeIstio([old, young])).toBe(old);
  expect(activeIstio([young, old])).toBe(old);
  expect(whyInactive(old, [young, old])).toBeUndefined();
});

test('the newer of two resources is in Error and is not retried', () => {
  expect(
    whyInactive(istio('istio-sample-new', 2), [istio('istio-sample-new', 2), istio('istio-sample', 1)]),
  ).toMatchObject({
    state: 'Error',
    description: 'Stopped Istio CR reconciliation: only Istio CR istio-sample in kyma-system reconciles the module',
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'OlderCRExists',
        message: 'This Istio custom resource is not the oldest one and does not represent the module state',
      },
    ],
    retry: 'never',
  });
});

test('the first of two resources by name is active if they were created in the same second', () => {
  const [a, b] = [istio('a', 1), istio('b', 1)];
  expect(activeIstio([b, a])).toBe(a);
  expect(activeIstio([a, b])).toBe(a);
});

test('a resource in another namespace is never active, and says so', () => {
  const elsewhere = istio('a', 1, { namespace: 'default' });
  expect(activeIstio([elsewhere])).toBeUndefined();
  expect(whyInactive(elsewhere, [elsewhere])).toMatchObject({
    state: 'Error',
    description: 'Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace',
    conditions: [{ reason: 'ReconcileFailed' }],
  });
  expect(whyInactive(istio('b', 2), [elsewhere, istio('b', 2)])).toBeUndefined();
});

test('a resource that is being deleted is still active; the next oldest becomes active once it is gone', () => {
  const going = istio('going', 1, { deletionTimestamp: '2026-01-02T00:00:00Z' });
  const [second, third] = [istio('second', 2), istio('third', 3)];
  expect(whyInactive(second, [third, second, going])?.description).toContain('only Istio CR going in kyma-system');
  expect(whyInactive(second, [third, second])).toBeUndefined();
  expect(whyInactive(third, [third, second])?.description).toContain('only Istio CR second in kyma-system');
});
