// Fifty environments of five workloads, in progress when a leader crashes.
import { expect } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import { poll } from '../scenarios/poll.ts';
import { makeWorkload } from './workload.ts';

export const WORKLOADS = ['cart', 'orders', 'payments', 'search', 'users'];
export const ENVIRONMENTS = 50;
const DEADLINE_MS = 240_000;

/** From a crash until the other process leads: the Lease lasts 15 s, and is checked every 2 s. */
export const TAKEOVER_MS = 20_000;

/** Makes the workloads. */
export async function makeWorkloads(client: Client, namespace: string): Promise<void> {
  for (const name of WORKLOADS) await makeWorkload(client, namespace, name);
}

/** Makes the environments; resolves when some of them are ready and most are not. */
export async function beginFifty(client: Client, namespace: string): Promise<void> {
  for (let number = 0; number < ENVIRONMENTS; number++) await makeEnvironment(client, namespace, number);
  await poll(async () => (await readyIn(client, namespace)) > 0, DEADLINE_MS);
}

/** Creates one more, so that the next leader has work, however far the last one got. */
export async function makeEnvironment(client: Client, namespace: string, number = ENVIRONMENTS): Promise<void> {
  const workload = WORKLOADS[number % WORKLOADS.length]!;
  const containers = [{ containerName: workload, image: `${workload}:2` }];
  await client.create(DynamicEnv, {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: `env-${number}`, namespace },
    spec: { key: `env-${number}`, subsets: [{ name: workload, namespace, containers }] },
  });
}

/** All environments become ready, and each has a route in the VirtualService of its workload. */
export async function expectAllReady(client: Client, namespace: string, count = ENVIRONMENTS): Promise<void> {
  await poll(async () => (await readyIn(client, namespace)) === count, DEADLINE_MS);
  const { items } = await client.list(VirtualService, { namespace });
  const subsets = items.flatMap(({ spec }) =>
    (spec?.http ?? []).flatMap(({ route = [] }) => route.map(({ destination }) => destination?.subset ?? '')),
  );
  expect(new Set(subsets.filter((subset) => subset !== 'shared')).size).toBe(count);
}

async function readyIn(client: Client, namespace: string): Promise<number> {
  const { items } = await client.list(DynamicEnv, { namespace });
  return items.filter(({ status }) => status?.state === 'ready').length;
}
