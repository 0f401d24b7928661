import { expect, test } from 'vitest';
import type { View } from '../../controller/index.ts';
import type { Pod } from '../workloads.ts';
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

/** Plans that are made one after the other, each so many seconds after the first. */
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

test('proxies have found their istiod a while after its pods have changed', () => {
  const plan = plans();
  expect(plan(0, pod('old'))).toBe(WITHIN_MS);
  expect(plan(25, pod('old'))).toBe(0);
  expect(plan(26, pod('old'), pod('new'))).toBe(WITHIN_MS);
  expect(plan(50, pod('new'), pod('old'))).toBe(1_000);
  expect(plan(50, pod('new'))).toBe(WITHIN_MS);
  expect(plan(75, pod('new'))).toBe(0);
});

test('while a pod of istiod is terminating, its proxies have still to look for another one', () => {
  const plan = plans();
  expect(plan(0, pod('new'), terminating('old', 30))).toBe(30_000);
  expect(plan(2, pod('new'))).toBe(WITHIN_MS);
});

test('a pod that outlives its grace period is waited for no longer', () => {
  const plan = plans();
  expect(plan(0, pod('new'), terminating('lost', 0))).toBe(WITHIN_MS);
  expect(plan(25, pod('new'), terminating('lost', 0))).toBe(0);
});

test('pods of others do not matter, and without an istiod nobody looks for one', () => {
  const plan = plans();
  expect(plan(0)).toBe(0);
  expect(plan(0, pod('gateway', 'istio-ingressgateway', new Date(NOW + 1_000).toISOString()))).toBe(0);
});
