// Workloads in a mesh, and environments of them.
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { Deployment, Service } from '../../src/environments/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import type { Settings } from '../../src/environments/index.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { installKinds } from '../environments/install.ts';
import { workload } from '../environments/workload.ts';
import { poll } from '../scenarios/poll.ts';
import type { Mesh } from './mesh.ts';
import { POD_PORT } from './pods.ts';
import { Namespace } from '../support/core-kinds.ts';
import { findObject } from '../support/find-object.ts';

/** Installs the kinds and starts the controllers of environments. */
export async function startControllers(client: Client, settings: Partial<Settings> = {}): Promise<Manager> {
  await installKinds(client);
  const logger = createLogger({ level: 'error' });
  const manager = new Manager({ client, controllers: environments(settings), logger });
  await manager.start();
  return manager;
}

/** Creates workloads of two pods each, with Services and routes, in a new namespace; `simulate` is their annotation. */
export async function makeWorkloads(
  client: Client,
  namespace: string,
  names: readonly string[],
  port: number,
  simulate?: string,
): Promise<void> {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const name of names) {
    const { deployment, service, rule, routes } = workload(namespace, name);
    const ports = [{ name: 'http', port, targetPort: POD_PORT }];
    await client.create(Service, { ...service, spec: { ...service.spec, ports } });
    await client.create(DestinationRule, rule);
    await client.create(VirtualService, routes);
    const { metadata, ...pod } = deployment.spec.template;
    const annotations = { ...(simulate !== undefined && { 'offshoot.dev/simulate': simulate }) };
    const template = { ...pod, metadata: { ...metadata, annotations } };
    // Simulated pods are ready as soon as they have an address: without a pause, a rollout deletes the pods before them
    // when istiod does not know the new ones yet.
    const spec = { ...deployment.spec, replicas: 2, minReadySeconds: 1, template };
    await client.create(Deployment, { ...deployment, spec });
  }
  await poll(
    async () => (await Promise.all(names.map((name) => isRolledOut(client, namespace, name)))).every(Boolean),
    30_000,
  );
}

async function isRolledOut(client: Client, namespace: string, name: string): Promise<boolean> {
  const { status } = await client.get(Deployment, { namespace, name });
  return status?.['availableReplicas'] === 2;
}

/** An environment of one workload, for requests with its name as the key. */
export function environmentOf(namespace: string, name: string, base: string, image: string): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name, namespace },
    spec: {
      istioMatches: [{ headers: { [KEY]: { exact: name } } }],
      subsets: [{ name: base, namespace, containers: [{ containerName: base, image }] }],
    },
  };
}

export const KEY = 'x-env';

/** Long enough for pods on a busy machine, and for a standby that takes over. */
const DEADLINE_MS = 90_000;

/** Resolves when an environment is ready in its latest generation. */
export async function ready(client: Client, { metadata }: DynamicEnv): Promise<void> {
  await poll(async () => {
    const { metadata: found, status } = await client.get(DynamicEnv, metadata);
    return status?.state === 'ready' && status.observedGeneration === found.generation;
  }, DEADLINE_MS);
}

/** Resolves when an environment has been deleted. */
export async function gone(client: Client, { metadata }: DynamicEnv): Promise<void> {
  await poll(async () => (await findObject(client, DynamicEnv, metadata)) === undefined, DEADLINE_MS);
}

/** Creates an environment, waits until it is ready and the proxies know its routes, and deletes it after `use`. */
export async function withEnvironment(mesh: Mesh, env: DynamicEnv, use: () => Promise<void>): Promise<void> {
  const { client } = mesh;
  await client.create(DynamicEnv, env);
  try {
    await ready(client, env);
    await mesh.settled();
    await use();
  } finally {
    await client.delete(DynamicEnv, env.metadata);
    await gone(client, env);
  }
  await mesh.settled();
}
