import { expect, test } from 'vitest';
import type { Istio } from '../api/istio.ts';
import { notRuling, rulingIstio } from './ruling.ts';

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

test('the oldest of two rules, whichever is listed first', () => {
  const [old, young] = [istio('z', 1), istio('a', 2)];
  expect(rulingIstio([old, young])).toBe(old);
  expect(rulingIstio([young, old])).toBe(old);
  expect(notRuling(old, [young, old])).toBeUndefined();
});

test('the newer of two is in Error and is not tried again by itself', () => {
  expect(
    notRuling(istio('istio-sample-new', 2), [istio('istio-sample-new', 2), istio('istio-sample', 1)]),
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

test('of two from the same second the first by name rules', () => {
  const [a, b] = [istio('a', 1), istio('b', 1)];
  expect(rulingIstio([b, a])).toBe(a);
  expect(rulingIstio([a, b])).toBe(a);
});

test('a resource in another namespace never rules, and says so', () => {
  const elsewhere = istio('a', 1, { namespace: 'default' });
  expect(rulingIstio([elsewhere])).toBeUndefined();
  expect(notRuling(elsewhere, [elsewhere])).toMatchObject({
    state: 'Error',
    description: 'Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace',
    conditions: [{ reason: 'ReconcileFailed' }],
  });
  expect(notRuling(istio('b', 2), [elsewhere, istio('b', 2)])).toBeUndefined();
});

test('one that is being deleted still rules; the next oldest does once it is gone', () => {
  const going = istio('going', 1, { deletionTimestamp: '2026-01-02T00:00:00Z' });
  const [second, third] = [istio('second', 2), istio('third', 3)];
  expect(notRuling(second, [third, second, going])?.description).toContain('only Istio CR going in kyma-system');
  expect(notRuling(second, [third, second])).toBeUndefined();
  expect(notRuling(third, [third, second])?.description).toContain('only Istio CR second in kyma-system');
});
