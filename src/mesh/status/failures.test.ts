import { expect, test } from 'vitest';
import { condition, failureConditions, manualRestartRequired, REASONS } from './conditions.ts';
import type { Reason } from './conditions.ts';
import { failure, FAILURES, worstOf } from './failures.ts';

test('the description of a failure says what was done and why it failed', () => {
  expect(failure('install', 'installation failed')).toMatchObject({
    state: 'Error',
    description: 'Could not install Istio: installation failed',
    retry: 'backoff',
  });
  expect(failure('resource', 'refused', { subject: 'EnvoyFilter/proxy-protocol' }).description).toBe(
    'Could not reconcile Istio resource EnvoyFilter/proxy-protocol: refused',
  );
});

test('a blocked deletion is a Warning whose description does not repeat the cause', () => {
  const cause = 'could not delete Istio module instance since there are 1 customer resources present';
  expect(failure('blocked', cause)).toMatchObject({
    state: 'Warning',
    description:
      'There are Istio resources that block deletion. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning',
    conditions: [{ type: 'Ready', status: 'False', reason: 'IstioCustomResourcesDangling' }],
  });
});

test('a warning about sidecars has the full text of the Kyma operator', () => {
  expect(
    failure('manualRestart', 'Istio controller could not restart one or more istio-injected pods.').description,
  ).toBe(
    'Not all pods with Istio injection could be restarted. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning: Istio controller could not restart one or more istio-injected pods.',
  );
});

test('a failure with a condition of another type also makes the resource not ready', () => {
  expect(failureConditions('ProxySidecarRestartFailed')).toEqual([
    condition('ReconcileFailed'),
    condition('ProxySidecarRestartFailed'),
  ]);
  expect(failureConditions('ReconcileFailed')).toEqual([condition('ReconcileFailed')]);
});

test('worstOf returns the most severe failure, or the first of equal severity', () => {
  const [warning, error, other] = [failure('userFilter', 'a'), failure('gateway', 'b'), failure('sidecars', 'c')];
  expect(worstOf([warning, error, other])).toBe(error);
  expect(worstOf([warning, failure('manualRestart', 'd')])).toBe(warning);
  expect(worstOf([])).toBeUndefined();
});

test('manualRestartRequired names five workloads and counts the others', () => {
  const names = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'a/6', 'a/7'];
  const message = (count: number): string => manualRestartRequired(names.slice(0, count)).message;
  expect(message(0)).toBe('Proxy sidecar manual restart is required for some workloads');
  expect(message(5)).toBe('The sidecars of the following workloads could not be restarted: a/1, a/2, a/3, a/4, a/5');
  expect(message(7)).toBe(
    'The sidecars of the following workloads could not be restarted: a/1, a/2, a/3, a/4, a/5 and 2 additional workload(s)',
  );
});

test('every failure has a known reason', () => {
  for (const { reason } of Object.values(FAILURES)) expect(Object.keys(REASONS)).toContain(reason satisfies Reason);
});
