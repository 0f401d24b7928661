// After a crash, the next process continues: nothing is restarted twice for the same reason, at most one batch is down
// at a time, and a rollout that is stuck is reported and makes the rest wait.
import { describe, expect, test } from 'vitest';
import { Istio } from '../../src/api/istio.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { alone } from '../scenarios/alone.ts';
import { startCrashing } from '../scenarios/crashing-controllers.ts';
import { until } from '../support/until.ts';
import type { Injector } from './injector.ts';
import { observe } from './observer.ts';
import type { Observer } from './observer.ts';
import {
  controllers,
  createIstio,
  Deployment,
  Pods,
  prepare,
  reached,
  RESOURCE,
  SHOP,
  startMesh,
  workload,
} from './world.ts';

const OLD = '1.30.2';
const NEW = '1.31.0';
/** Old pods are removed before new ones are created, so that a restart is visible. */
const RECREATE = { replicas: 1, spec: { strategy: { type: 'Recreate' } } };

interface World {
  readonly client: Client;
  readonly injector: Injector;
  readonly observer: Observer;
}

/** Runs a function on a cluster with workloads in a mesh of the old version. */
async function inMesh(names: readonly string[], use: (world: World) => Promise<void>): Promise<void> {
  let injector: Injector;
  const ready = async (client: Client): Promise<void> => {
    injector = await prepare(client);
  };
  await alone(ready, async ({ client }) => {
    const manager = await startMesh(client, { istioVersion: OLD });
    await createIstio(client);
    await reached(client, 'Ready', OLD);
    for (const name of names) await client.create(Deployment, workload(name, RECREATE));
    const observer = await observe(client);
    const isUp = async (): Promise<boolean> => {
      const { items } = await client.list(Deployment, { namespace: SHOP });
      return items.every(({ status }) => status?.availableReplicas === 1);
    };
    await until(isUp, 120_000);
    await manager.stop();
    observer.forget();
    try {
      await use({ client, injector, observer });
    } finally {
      await observer.close();
      await injector.close();
    }
  });
}

const named = (count: number): readonly string[] =>
  Array.from({ length: count }, (_none, index) => `w-${String(index).padStart(3, '0')}`);
const timesOf = ({ restarts }: Observer): readonly number[] => [...restarts.values()].map((marks) => marks.size);

describe('a process that crashes after every few writes', () => {
  test(
    'restarts 500 workloads once each, 20 at a time, and waits at one that is stuck',
    { timeout: 900_000 },
    async () => {
      const names = named(500);
      await inMesh(names, async ({ client, injector, observer }) => {
        injector.stuck = { prefix: 'w-250-', tag: NEW };
        const writesUntilCrash = Array.from(
          { length: 60 },
          (_none, index) => [1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31][index % 12]!,
        );
        const settings = { istioVersion: NEW, batchSize: 20 };
        const crashing = await startCrashing({ client, controllers: controllers(settings) }, writesUntilCrash);
        try {
          const statusNow = async (): Promise<Istio['status']> => (await client.get(Istio, RESOURCE)).status;
          const isStuck = async (): Promise<boolean> => {
            const { restarts } = (await statusNow()) ?? {};
            return restarts?.restarting === 1 && (restarts.workloads[0]?.waiting?.includes('w-250') ?? false);
          };
          await until(isStuck, 300_000);
          const begun = observer.restarts.size;
          expect(begun).toBeGreaterThan(250);
          expect(begun).toBeLessThanOrEqual(270);
          expect(await statusNow()).toMatchObject({
            state: 'Processing',
            description: `Restarting workloads: ${begun - 1} of 500 are done`,
            restarts: { total: 501 - begun, restarting: 1 },
          });
          const waiting = (await statusNow())!.restarts!.workloads.map((each) => each.waiting);
          expect(new Set(waiting)).toEqual(
            new Set(['Deployment shop/w-250 must be healthy first: 0 of 1 pods are available']),
          );

          injector.stuck = undefined;
          const { items } = await client.list(Pods, { namespace: SHOP, labelSelector: 'app=w-250' });
          for (const { metadata } of items) await client.delete(Pods, metadata);
          await reached(client, 'Ready', NEW, 300_000);
          expect([observer.restarts.size, Math.max(...timesOf(observer))]).toEqual([500, 1]);
          expect(observer.mostDown).toBeLessThanOrEqual(20);
          expect(crashing.starts).toBeGreaterThan(30);
        } finally {
          await crashing.stop();
        }
      });
    },
  );
});

test('a crash at any write of a batch restarts each workload once', { timeout: 600_000 }, async () => {
  const names = named(7);
  await inMesh(names, async ({ client, observer }) => {
    const settings = { istioVersion: NEW, batchSize: 3 };
    const only = (name: string) => controllers(settings).filter((each) => each.name === name);
    const manager = new Manager({ client, controllers: only('mesh'), logger: createLogger({ level: 'silent' }) });
    await manager.start();
    try {
      for (let writes = 1; writes <= names.length + 1; writes++) {
        const resources = { requests: { cpu: `${100 + writes}m` } };
        const body = { spec: { components: { proxy: { k8s: { resources } } } } };
        await client.patch(Istio, RESOURCE, { type: 'merge', body });
        const crashing = await startCrashing({ client, controllers: only('mesh-restarts') }, [writes]);
        try {
          await until(() => observer.restarts.size === names.length, 60_000);
          await reached(client, 'Ready', NEW, 60_000);
          const starts = writes <= names.length ? 2 : 1;
          expect([timesOf(observer), observer.mostDown <= 3, crashing.starts]).toEqual([
            names.map(() => 1),
            true,
            starts,
          ]);
        } finally {
          await crashing.stop();
        }
        observer.forget();
      }
    } finally {
      await manager.stop();
    }
  });
});
