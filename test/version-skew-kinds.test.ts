// All our kinds in an upgrade or a rollback: controllers that are older than the definitions keep the fields of a newer
// version, and controllers that are newer become idle. version-skew.test.ts has more cases for environments.
import { afterEach, expect, test } from 'vitest';
import type { Resource } from '../src/api/resource.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { apiVersionOf, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Kind, KubeObject } from '../src/kube/index.ts';
import { builtinRenderer } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import type { Cluster } from './cluster/index.ts';
import { installIstioKinds } from './environments/install.ts';
import { makeWorkload } from './environments/workload.ts';
import { install } from './scenarios/install.ts';
import { Namespace } from './support/core-kinds.ts';
import { settled, until } from './support/until.ts';

const RESOURCES = partsOf().flatMap(({ resources }) => resources);
const BY = { fieldManager: 'test' };
const FUTURE = { fromTheFuture: 'kept' };

interface Schema {
  properties?: Record<string, Schema>;
  type?: string;
}

type Stored = KubeObject & { readonly spec?: object; readonly status?: Readonly<Record<string, unknown>> };

/** A definition with other schemas of spec and status, in all its versions. */
function changed({ crd }: Resource<KubeObject>, change: (schema: Schema, of: 'spec' | 'status') => void): AnyObject {
  const copy = structuredClone(crd) as AnyObject & { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } };
  for (const { schema } of copy.spec.versions) {
    for (const of of ['spec', 'status'] as const) change(schema.openAPIV3Schema.properties![of]!, of);
  }
  return copy;
}

const newer = RESOURCES.map((each) =>
  changed(each, (schema) => {
    schema.properties = { ...schema.properties, fromTheFuture: { type: 'string' } };
  }),
);
/** About as in the original operators: without the fields that we added to the status. */
const older = RESOURCES.map((each) =>
  changed(each, (schema, of) => {
    if (of === 'status') for (const field of ['conditions', 'observedGeneration']) delete schema.properties?.[field];
  }),
);

/** The spec of an object of each kind. */
function specsIn(namespace: string): Readonly<Record<string, object>> {
  const containers = [{ containerName: 'cart', image: 'cart:2' }];
  const kubernetesCredentials = {
    defaultNamespace: namespace,
    apiURL: 'https://cluster',
    clusterCredentialsSecret: 'none',
  };
  return {
    DynamicEnv: { key: 'skew', subsets: [{ name: 'cart', namespace, containers }] },
    DeploymentTargetClass: { provisioner: 'example.com/nobody', reclaimPolicy: 'Retain' },
    DeploymentTarget: { deploymentTargetClassName: '', kubernetesCredentials },
    DeploymentTargetClaim: { deploymentTargetClassName: '', targetName: 'skew' },
    Environment: {
      displayName: 'Skew',
      deploymentStrategy: 'Manual',
      configuration: { target: { deploymentTargetClaim: { claimName: 'skew' } } },
    },
    SpaceRequest: { tierName: 'no-such-tier' },
    Istio: {},
    Mesh: { awsAppMesh: { region: 'eu-central-1' } },
    MeshGroup: { meshes: [{ name: 'skew', namespace }] },
    RoutingRule: { targetMesh: { name: 'nobody', namespace } },
    Upstream: { kube: { serviceName: 'cart', serviceNamespace: namespace, servicePort: 80 } },
  };
}

/** The required fields of a status. */
const REQUIRED: Readonly<Record<string, object>> = {
  DynamicEnv: { subsetsStatus: {}, state: 'processing', totalReady: 0 },
  Istio: { state: 'Processing' },
};

/** Kinds whose status our controllers write for the objects above. */
const WITH_STATUS = new Set([
  'DynamicEnv',
  'DeploymentTarget',
  'DeploymentTargetClaim',
  'SpaceRequest',
  'Istio',
  'RoutingRule',
]);

describeOwnClusters('version skew of all kinds', (cluster) => {
  let plane: ControlPlane | undefined;
  let writes = 0;
  afterEach(() => plane?.stop());

  /** Creates an object of each kind on a cluster with these definitions, and starts all controllers. */
  async function begin(definitions: readonly AnyObject[], extra: object): Promise<readonly [Kind, Stored][]> {
    const client = cluster.client();
    await installIstioKinds(client);
    await install(client, [...definitions, ...(Object.values(appMeshDefinitions()) as unknown as AnyObject[])]);
    const namespace = await cluster.namespace('skew');
    await makeWorkload(client, namespace, 'cart');
    await client
      .create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } })
      .catch(() => undefined);
    const created: [Kind, Stored][] = [];
    for (const [name, spec] of Object.entries(specsIn(namespace))) {
      const kind = RESOURCES.find((each) => each.kind.kind === name)!.kind as Kind;
      const at = name === 'Istio' ? { name: 'default', namespace: 'kyma-system' } : { name: 'skew', namespace };
      const metadata = { ...(kind.namespaced ? at : { name: namespace }), annotations: { 'a.newer/version': 'kept' } };
      const body = { apiVersion: apiVersionOf(kind), kind: name, metadata, spec: { ...spec, ...extra } };
      // A cluster has only one Istio resource, which the previous test may have created.
      const object = (await client.patch(kind, metadata, { type: 'apply', body, force: true }, BY)) as Stored;
      created.push([kind, object]);
      if (Object.keys(extra).length === 0) continue;
      const patch = { type: 'merge', body: { status: { ...REQUIRED[name], ...extra } } } as const;
      await client.patch(kind, object.metadata, patch, { subresource: 'status' });
    }
    plane = await start(cluster, () => writes++);
    return created;
  }

  const read = (created: readonly [Kind, Stored][]): Promise<readonly Stored[]> =>
    Promise.all(created.map(async ([kind, { metadata }]) => (await cluster.client().get(kind, metadata)) as Stored));

  test(
    'controllers that are older than the definitions keep the fields of a newer version',
    { timeout: 240_000 },
    async () => {
      const created = await begin(newer, FUTURE);
      const found = (): Promise<readonly Stored[]> => read(created);
      const hasStatus = ({ kind, status = {} }: Stored): boolean =>
        !WITH_STATUS.has(kind) || Object.keys(status).some((field) => field !== 'fromTheFuture');
      const DONE: Readonly<Record<string, string>> = { DynamicEnv: 'ready', Istio: 'Ready' };
      const isDone = ({ kind, status }: Stored): boolean =>
        DONE[kind] === undefined || status?.['state'] === DONE[kind];
      await until(async () => (await found()).every((each) => hasStatus(each) && isDone(each)), 120_000, found);
      await settled(plane!.manager, 60_000);
      for (const { kind, metadata, spec, status } of await found()) {
        expect([kind, spec, status]).toEqual([kind, expect.objectContaining(FUTURE), expect.objectContaining(FUTURE)]);
        expect(metadata.annotations).toMatchObject({ 'a.newer/version': 'kept' });
      }
    },
  );

  test(
    'controllers that are newer than the definitions become idle, and the upgrade keeps what is stored',
    { timeout: 240_000 },
    async () => {
      const created = await begin(older, {});
      const found = (): Promise<readonly Stored[]> => read(created);
      const isReady = ({ kind, status }: Stored): boolean => kind !== 'DynamicEnv' || status?.['state'] === 'ready';
      await until(async () => (await found()).every(isReady), 120_000, found);
      await settled(plane!.manager, 60_000);
      const before = writes;
      for (const [kind, { metadata }] of created) {
        const patch = { type: 'merge', body: { metadata: { labels: { looked: 'again' } } } } as const;
        await cluster.client().patch(kind, metadata, patch);
      }
      await settled(plane!.manager, 60_000);
      // The server drops unknown fields: this causes a write or two per reconcile, but no loop.
      expect(writes - before).toBeLessThanOrEqual(2 * created.length);
      const stored = await found();
      await install(
        cluster.client(),
        RESOURCES.map(({ crd }) => crd),
      );
      for (const [at, object] of (await found()).entries()) expect(object.spec).toEqual(stored[at]!.spec);
    },
  );
});

function start(cluster: Cluster, onWrite: () => void): Promise<ControlPlane> {
  return startControlPlane({
    config: loadConfig({ path: cluster.kubeconfigPath }),
    parts: partsOf(),
    namespace: 'kube-system',
    settings: { drainMs: 0, settleMs: 0 },
    mesh: { renderer: builtinRenderer, reconnectMs: 0 },
    logger: createLogger({ level: 'silent' }),
    onWrite,
  });
}
