// Whenever the process stops, the next one finishes its work: claims are bound and deleted without leftovers, whichever
// write was the last.
import { afterEach, describe, expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { settled } from '../../../test/support/until.ts';
import { ManagedEnvironment, Space, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../api/targets.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import type { Client, KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { Namespace, Secret } from '../objects.ts';
import { object } from '../testing/planning.ts';

const managers: Manager[] = [];
afterEach(async () => {
  await Promise.all(managers.splice(0).map((manager) => manager.stop()));
});

function start(client: Client, onWrite: (count: number) => void = () => {}): Manager {
  const manager = new Manager({ client, controllers: targets(), logger: createLogger({ level: 'silent' }), onWrite });
  managers.push(manager);
  return manager;
}

/** Runs the controllers until they settle. Each process stops after its number of writes; the last one does not. */
async function runProcesses(api: FakeApi, writesPerProcess: readonly number[]): Promise<void> {
  for (const writes of [...writesPerProcess, Infinity]) {
    let isOver = false;
    const manager = start(api, (count) => {
      if (count >= writes) {
        isOver = true;
        void manager.stop();
      }
    });
    await manager.start();
    if (writes === Infinity) await settled(manager);
    else
      await settled({
        get idle() {
          return isOver || manager.idle;
        },
      });
    await manager.stop();
  }
}

const bare = <T extends KubeObject>(made: T): T => {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _time,
    generation: _generation,
    ...metadata
  } = made.metadata;
  return { ...made, metadata };
};

async function world(provisioner: string, parameters = {}): Promise<FakeApi> {
  const api = new FakeApi();
  for (const name of ['team', 'offshoot-system']) await api.create(Namespace, bare(object(Namespace, name)));
  const spec = { provisioner, reclaimPolicy: 'Delete', parameters };
  await api.create(DeploymentTargetClass, bare(object(DeploymentTargetClass, 'some', { spec })));
  return api;
}

async function claim(api: FakeApi): Promise<void> {
  const spec = { deploymentTargetClassName: 'some' };
  await api.create(DeploymentTargetClaim, bare(object(DeploymentTargetClaim, 'dev', { spec })));
  const configuration = { target: { deploymentTargetClaim: { claimName: 'dev' } } };
  const prod = { displayName: 'Production', deploymentStrategy: 'Manual', configuration };
  await api.create(Environment, bare(object(Environment, 'prod', { spec: prod })));
}

async function deleteClaim(api: FakeApi): Promise<void> {
  await api.delete(Environment, { name: 'prod', namespace: 'team' });
  await api.delete(DeploymentTargetClaim, { name: 'dev', namespace: 'team' });
}

/** What a user can see. */
function visibleState(api: FakeApi): unknown {
  const [dev] = api.all(DeploymentTargetClaim).values();
  const phases = [...api.all(DeploymentTarget).values()].map((each) => (each['status'] as { phase: string }).phase);
  return {
    claim: (dev?.['status'] as { phase: string } | undefined)?.phase,
    targets: phases,
    requests: api.all(SpaceRequest).size,
    spaces: api.all(Space).size,
    namespaces: api.all(Namespace).size - 2,
    managed: api.all(ManagedEnvironment).size,
    // Without a garbage collector, Secrets that have an owner stay.
    secrets: [...api.all(Secret).values()].filter(({ metadata }) => metadata.ownerReferences === undefined).length,
  };
}

const NOTHING = { claim: undefined, targets: [], requests: 0, spaces: 0, namespaces: 0, managed: 0, secrets: 0 };
const BOUND = { ...NOTHING, claim: 'Bound', targets: ['Bound'], namespaces: 1, managed: 1 };

describe.each([
  ['appstudio.redhat.com/devsandbox', { ...BOUND, requests: 1, spaces: 1 }],
  ['offshoot.dev/namespace', { ...BOUND, secrets: 1 }],
])('%s', (provisioner, bound) => {
  test('a claim is bound and deleted, and then nothing is written any more', async () => {
    const api = await world(provisioner);
    await claim(api);
    await runProcesses(api, []);
    expect(visibleState(api)).toEqual(bound);
    const { length } = api.writes;
    await runProcesses(api, []);
    expect(api.writes.slice(length).filter(({ kind }) => kind !== 'Event')).toEqual([]);
    await deleteClaim(api);
    await runProcesses(api, []);
    expect(visibleState(api)).toEqual(NOTHING);
  });

  test('a claim is bound and deleted when each process stops after one write', async () => {
    const api = await world(provisioner);
    const writesPerProcess = Array.from({ length: 80 }, () => 1);
    await claim(api);
    await runProcesses(api, writesPerProcess);
    expect(visibleState(api)).toEqual(bound);
    await deleteClaim(api);
    await runProcesses(api, writesPerProcess);
    expect(visibleState(api)).toEqual(NOTHING);
  });

  test.each([1, 2, 3, 5, 8, 13, 21, 30])('a claim is deleted without leftovers after %d writes', async (writes) => {
    const api = await world(provisioner);
    await claim(api);
    let deletion: Promise<void> | undefined;
    const manager = start(api, (count) => {
      if (count === writes) deletion ??= deleteClaim(api);
    });
    await manager.start();
    await settled(manager);
    await (deletion ??= deleteClaim(api));
    await settled(manager);
    expect(visibleState(api)).toEqual(NOTHING);
  });
});

describe('a warm pool', () => {
  const spec = { deploymentTargetClassName: 'some' };

  /** A client whose last write is still in flight when its process stops; `land` lets it through. */
  function withLateWrite(api: FakeApi, isLate: (method: string, kind: string) => boolean) {
    const held = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const client: Client = new Proxy<Client>(api, {
      get(target, method: string) {
        if (method === 'flow') return () => client;
        const original = Reflect.get(target, method) as (...args: unknown[]) => unknown;
        return async (...args: unknown[]) => {
          if (isLate(method, (args[0] as { kind?: string }).kind ?? '')) {
            isHeld.resolve();
            await held.promise;
          }
          return original.apply(target, args);
        };
      },
    });
    return { client, isHeld: isHeld.promise, land: () => held.resolve() };
  }

  test.each([
    ['target', (method: string, kind: string) => method === 'create' && kind === 'DeploymentTarget'],
    ['Secret', (method: string, kind: string) => method === 'patch' && kind === 'Secret'],
    ['namespace', (method: string, kind: string) => method === 'create' && kind === 'Namespace'],
  ])('leaves nothing behind when its last %s is created after the process stopped', async (_what, isLate) => {
    const api = await world('offshoot.dev/namespace', { warm: 1 });
    await api.create(DeploymentTargetClaim, bare(object(DeploymentTargetClaim, 'dev', { spec })));
    await runProcesses(api, []);
    // A claim uses up the pool, and another target is being made while the process stops.
    const first = withLateWrite(api, isLate);
    const dying = start(first.client);
    await dying.start();
    await api.create(DeploymentTargetClaim, bare(object(DeploymentTargetClaim, 'next', { spec })));
    await first.isHeld;
    const ended = dying.stop();
    for (const name of ['dev', 'next']) await api.delete(DeploymentTargetClaim, { name, namespace: 'team' });
    const manager = start(api);
    await manager.start();
    await settled(manager);
    first.land();
    await ended;
    await settled(manager);
    expect(visibleState(api)).toEqual(NOTHING);
  });
});
