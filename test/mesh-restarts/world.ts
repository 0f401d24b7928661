// A cluster with an injector, the mesh controllers, and workloads in the mesh.
import { istio, Istio } from '../../src/api/istio.ts';
import type { IstioSpec } from '../../src/api/istio.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { ControllerDefinition } from '../../src/controller/index.ts';
import { defineKind, isNotFound } from '../../src/kube/index.ts';
import type { AnyObject, Client, Kind, KubeObject } from '../../src/kube/index.ts';
import { builtinRenderer, mesh } from '../../src/mesh/index.ts';
import type { MeshSettings, Pod, Workload } from '../../src/mesh/index.ts';
import { install } from '../scenarios/install.ts';
import { until } from '../support/until.ts';
import { startInjector } from './injector.ts';
import type { Injector } from './injector.ts';

export const SHOP = 'shop';
export const RESOURCE = { namespace: 'kyma-system', name: 'default' };

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const ServiceAccount = defineKind('v1', 'ServiceAccount', 'serviceaccounts');
export const Pods = defineKind<Pod>('v1', 'Pod', 'pods');
export const Deployment = defineKind<Workload>('apps/v1', 'Deployment', 'deployments');

/** The built-in kinds of workloads. */
export const WORKLOADS: Readonly<Record<string, Kind<Workload>>> = {
  Deployment,
  StatefulSet: defineKind<Workload>('apps/v1', 'StatefulSet', 'statefulsets'),
  DaemonSet: defineKind<Workload>('apps/v1', 'DaemonSet', 'daemonsets'),
  ReplicaSet: defineKind<Workload>('apps/v1', 'ReplicaSet', 'replicasets'),
  ReplicationController: defineKind<Workload>('v1', 'ReplicationController', 'replicationcontrollers'),
};

/** Installs the definition of Istio resources, the namespaces and the injector. */
export async function prepare(client: Client): Promise<Injector> {
  await install(client, [istio.crd]);
  for (const [name, labels] of [
    ['kyma-system', {}],
    [SHOP, { 'istio-injection': 'enabled' }],
  ] as const) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    await until(() => exists(client, ServiceAccount, { namespace: name, name: 'default' }), 30_000);
  }
  return startInjector(client);
}

/** The mesh controllers, for a cluster where everything is fast. */
export function controllers(settings: Partial<MeshSettings> = {}): readonly ControllerDefinition[] {
  return mesh({ renderer: builtinRenderer, settleMs: 200, ...settings });
}

export async function startMesh(client: Client, settings: Partial<MeshSettings>): Promise<Manager> {
  const logger = createLogger({ level: 'silent' });
  const manager = new Manager({ client, controllers: controllers(settings), logger });
  await manager.start();
  return manager;
}

export async function createIstio(client: Client, spec: IstioSpec = {}): Promise<void> {
  const apiVersion = 'operator.kyma-project.io/v1alpha2';
  await client.create(Istio, { apiVersion, kind: 'Istio', metadata: RESOURCE, spec });
}

/** Waits until the resource has this state for its current spec and this version. */
export async function reached(
  client: Client,
  state: string,
  istioVersion: string,
  deadlineMs = 60_000,
): Promise<Istio> {
  let found: Istio | undefined;
  await until(async () => {
    found = await client.get(Istio, RESOURCE);
    const { status, metadata } = found;
    const isCurrent = status?.observedGeneration === metadata.generation && status?.istioVersion === istioVersion;
    return isCurrent && status?.state === state;
  }, deadlineMs).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}; ${JSON.stringify(found?.status, undefined, 1)}`);
  });
  return found!;
}

interface WorkloadOptions {
  readonly kind?: string;
  readonly replicas?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly podAnnotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** A workload in the mesh. */
export function workload(name: string, options: WorkloadOptions = {}): AnyObject {
  const { kind = 'Deployment', replicas = 2, annotations = {}, podAnnotations = {}, spec = {} } = options;
  const labels = { app: name };
  return {
    apiVersion: kind === 'ReplicationController' ? 'v1' : 'apps/v1',
    kind,
    metadata: { namespace: SHOP, name, annotations },
    spec: {
      ...(kind !== 'DaemonSet' && { replicas }),
      ...(kind === 'StatefulSet' && { serviceName: name }),
      selector: kind === 'ReplicationController' ? labels : { matchLabels: labels },
      template: {
        metadata: { labels, annotations: podAnnotations },
        spec: { containers: [{ name: 'app', image: 'example.org/app' }] },
      },
      ...spec,
    },
  };
}

/** The pods of a workload that are not terminating. */
export async function podsOf(client: Client, name: string): Promise<readonly Pod[]> {
  const { items } = await client.list(Pods, { namespace: SHOP, labelSelector: `app=${name}` });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

export function imageOf({ spec }: Pod): string | undefined {
  return spec?.containers?.find(({ name }) => name === 'istio-proxy')?.image;
}

async function exists(
  client: Client,
  kind: Kind<KubeObject>,
  ref: { namespace?: string; name: string },
): Promise<boolean> {
  try {
    await client.get(kind, ref);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
