// Two hundred environments are created, changed and deleted at once on twenty VirtualServices that somebody else edits
// at the same time: everything converges, and no edit is lost.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manager } from '../../src/controller/index.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Embedded } from '../../src/embedded/index.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { isConflict } from '../../src/kube/errors.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { seededRandom } from '../support/random.ts';
import { installKinds } from './install.ts';
import { DynamicEnv, leftoversInTheEnd } from './leftovers.ts';
import { poll } from '../scenarios/poll.ts';
import { environmentsManager } from './manager.ts';

const NAMESPACE = 'default';
const WORKLOADS = 20;
const ENVIRONMENTS = 200;
const ANNOTATION = 'riskified.com/dynamic-environment';
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Service = defineKind('v1', 'Service', 'services');

let cluster: Embedded;
let client: Client;
let manager: Manager;

beforeAll(async () => {
  cluster = await startEmbedded();
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  await installKinds(client);
  await Promise.all(Array.from({ length: WORKLOADS }, (_none, i) => createWorkload(`w${i}`)));
  manager = environmentsManager({
    client,
  });
  await manager.start();
});

afterAll(async () => {
  await manager.stop();
  client.close();
  await cluster.stop();
});

async function createWorkload(name: string): Promise<void> {
  const metadata = { name, namespace: NAMESPACE };
  const labels = { app: name, version: 'shared' };
  const istio = 'networking.istio.io/v1beta1';
  const containers = [{ name: 'main', image: 'app:1' }];
  await client.create(Deployment, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
  const spec = { selector: { app: name }, ports: [{ port: 80 }] };
  await client.create(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec });
  await client.create(DestinationRule, {
    apiVersion: istio,
    kind: 'DestinationRule',
    metadata,
    spec: { host: name, subsets: [{ name: 'shared', labels: { version: 'shared' } }] },
  });
  await client.create(VirtualService, {
    apiVersion: istio,
    kind: 'VirtualService',
    metadata,
    spec: { hosts: [name], http: [baseRoute(name)] },
  });
}

function baseRoute(workload: string): HttpRoute {
  return { name: 'base', route: [{ destination: { host: workload, subset: 'shared' } }] };
}

/** The workload of an environment: its number modulo the number of workloads. */
const workloadOf = (i: number): string => `w${i % WORKLOADS}`;
const isDeleted = (i: number): boolean => Math.floor(i / WORKLOADS) % 2 === 1;

function environment(i: number, image: string): AnyObject {
  const workload = { name: workloadOf(i), namespace: NAMESPACE, containers: [{ containerName: 'main', image }] };
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: `e${i}`, namespace: NAMESPACE },
    spec: { istioMatches: [{ headers: { user: { exact: `u${i}` } } }], subsets: [workload] },
  };
}

/** Creates, changes and perhaps deletes an environment, with random pauses. */
async function createAndChange(i: number, random: () => number): Promise<void> {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, random() * 2_000));
  await pause();
  await client.create(DynamicEnv, environment(i, 'app:2'));
  await pause();
  const ref = { name: `e${i}`, namespace: NAMESPACE };
  await client.patch(DynamicEnv, ref, { type: 'merge', body: { spec: environment(i, 'app:3')['spec'] } });
  if (!isDeleted(i)) return;
  await pause();
  await client.delete(DynamicEnv, ref);
}

/** Another editor of a VirtualService, who keeps track of their own routes and annotations. */
class Neighbour {
  readonly #workload: string;
  readonly #random: () => number;
  routes: HttpRoute[] = [];
  edits = 0;

  constructor(workload: string, random: () => number) {
    this.#workload = workload;
    this.#random = random;
  }

  /**
   * Adds a route and perhaps removes one, by read, edit and update. It does not repeat earlier edits: if one was lost,
   * it stays lost.
   */
  async edit(): Promise<void> {
    const name = `theirs-${++this.edits}`;
    const route = { name, match: [{ uri: { prefix: `/${name}` } }], route: [{ destination: { host: 'elsewhere' } }] };
    const drop = this.routes.length > 3 ? this.routes[Math.floor(this.#random() * 3)]?.name : undefined;
    this.routes = [route, ...this.routes.filter((each) => each.name !== drop)];
    for (;;) {
      const { metadata, spec, ...found } = await client.get(VirtualService, {
        name: this.#workload,
        namespace: NAMESPACE,
      });
      const others = (spec?.http ?? []).filter((each) => drop === undefined || each.name !== drop);
      const annotations = { ...metadata.annotations, [name]: 'here' };
      const edited = { ...found, metadata: { ...metadata, annotations }, spec: { ...spec, http: [route, ...others] } };
      try {
        await client.update(VirtualService, edited, { fieldManager: 'neighbour' });
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }
}

test('many concurrent environments converge and lose no edit of others', async () => {
  const random = seededRandom(4);
  const neighbours = Array.from({ length: WORKLOADS }, (_none, i) => new Neighbour(workloadOf(i), random));
  const over = new AbortController();
  const editing = neighbours.map(async (neighbour) => {
    while (!over.signal.aborted) {
      await neighbour.edit();
      await new Promise((resolve) => setTimeout(resolve, random() * 200));
    }
  });
  await Promise.all(Array.from({ length: ENVIRONMENTS }, (_none, i) => createAndChange(i, random)));
  over.abort();
  await Promise.all(editing);

  const kept = Array.from({ length: ENVIRONMENTS }, (_none, i) => i).filter((i) => !isDeleted(i));
  await poll(async () => {
    const { items } = await client.list(DynamicEnv, { namespace: NAMESPACE });
    return items.length === kept.length && items.every(isReady);
  }, 40_000);

  expect(neighbours.every(({ edits }) => edits > 5)).toBe(true);
  const { items: services } = await client.list(VirtualService, { namespace: NAMESPACE });
  for (const [i, neighbour] of neighbours.entries()) {
    const service = services.find(({ metadata }) => metadata.name === workloadOf(i))!;
    const mine = kept.filter((each) => workloadOf(each) === workloadOf(i));
    const http = service.spec?.http ?? [];
    expect(http.slice(0, neighbour.routes.length)).toEqual(neighbour.routes);
    expect(http.at(-1)).toEqual(baseRoute(workloadOf(i)));
    const inserted = http.slice(neighbour.routes.length, -1);
    const users = inserted.map(({ match }) => match?.[0]?.headers?.['user']?.exact ?? '');
    expect(users.sort()).toEqual(mine.map((each) => `u${each}`).sort());
    const { [ANNOTATION]: named = '', ...theirs } = service.metadata.annotations ?? {};
    expect(named.split(',').sort()).toEqual(mine.map((each) => `${NAMESPACE}/e${each}`).sort());
    expect(Object.keys(theirs)).toHaveLength(neighbour.edits);
  }
  const { items: clones } = await client.list(Deployment, { namespace: NAMESPACE, labelSelector: 'dynamic-env=true' });
  expect(clones.map(({ metadata }) => metadata.name).sort()).toEqual(
    kept.map((i) => `${workloadOf(i)}-${NAMESPACE}-e${i}`).sort(),
  );
  expect(clones.every((clone) => JSON.stringify(clone['spec']).includes('"app:3"'))).toBe(true);

  for (const i of kept) await client.delete(DynamicEnv, { name: `e${i}`, namespace: NAMESPACE });
  expect(await leftoversInTheEnd(client, (name) => name === NAMESPACE)).toEqual([]);
}, 60_000);

function isReady(env: AnyObject): boolean {
  const { state, observedGeneration } = (env['status'] ?? {}) as { state?: string; observedGeneration?: number };
  return state === 'ready' && observedGeneration === env.metadata.generation;
}
