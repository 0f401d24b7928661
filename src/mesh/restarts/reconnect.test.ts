import { expect, test } from 'vitest';
import type { View } from '../../controller/index.ts';
import type { Pod } from '../workloads/workloads.ts';
import { reconnectingMs } from './reconnect.ts';
import { NOW } from './testing/workloads.ts';

const WITHIN_MS = 25_000;

const pod = (name: string, app = 'istiod', deletionTimestamp?: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'istio-system', labels: { app }, ...(deletionTimestamp && { deletionTimestamp }) },
});
const terminating = (name: string, seconds: number): Pod =>
  pod(name, 'istiod', new Date(NOW + seconds * 1_000).toISOString());

/** Makes plans in sequence, each a number of seconds after the first. */
function plans(): (seconds: number, ...pods: Pod[]) => number {
  let found = new Map<string, number>();
  return (seconds, ...pods) => {
    const [now, before] = [NOW + seconds * 1_000, found];
    found = new Map();
    const heldFor = (finding: string): number => {
      found.set(finding, before.get(finding) ?? now);
      return now - found.get(finding)!;
    };
    return reconnectingMs({ list: () => pods, now: () => now, heldFor } as unknown as View, WITHIN_MS);
  };
}

test('reconnectingMs waits for a while after the pods of istiod have changed', () => {
  const plan = plans();
  expect(plan(0, pod('old'))).toBe(WITHIN_MS);
  expect(plan(25, pod('old'))).toBe(0);
  expect(plan(26, pod('old'), pod('new'))).toBe(WITHIN_MS);
  expect(plan(50, pod('new'), pod('old'))).toBe(1_000);
  expect(plan(50, pod('new'))).toBe(WITHIN_MS);
  expect(plan(75, pod('new'))).toBe(0);
});

test('reconnectingMs waits while a pod of istiod is terminating', () => {
  const plan = plans();
  expect(plan(0, pod('new'), terminating('old', 30))).toBe(30_000);
  expect(plan(2, pod('new'))).toBe(WITHIN_MS);
});

test('reconnectingMs does not wait for a pod beyond its grace period', () => {
  const plan = plans();
  expect(plan(0, pod('new'), terminating('lost', 0))).toBe(WITHIN_MS);
  expect(plan(25, pod('new'), terminating('lost', 0))).toBe(0);
});

test('reconnectingMs ignores other pods, and is 0 without istiod', () => {
  const plan = plans();
  expect(plan(0)).toBe(0);
  expect(plan(0, pod('gateway', 'istio-ingressgateway', new Date(NOW + 1_000).toISOString()))).toBe(0);
});
