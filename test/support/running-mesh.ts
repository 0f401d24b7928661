// The controllers of the mesh on their own embedded cluster.
import { settled, until } from './until.ts';
import { Istio, istio as resource } from '../../src/api/istio.ts';
import type { IstioSpec } from '../../src/api/istio.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Client, Kind, KubeObject, Ref, Tables } from '../../src/kube/index.ts';
import { builtinRenderer } from '../../src/mesh/installation/render/builtin/builtin.ts';
import { mesh } from '../../src/mesh/mesh.ts';
import type { MeshSettings } from '../../src/mesh/settings.ts';
import { connectAdmin } from './connect-admin.ts';
import { CustomResourceDefinition, Namespace } from './core-kinds.ts';
import { findObject } from './find-object.ts';

const ONE_POD = { k8s: { hpaSpec: { maxReplicas: 5, minReplicas: 1 } } };

/** A mesh that is not scaled: the autoscaler of a real cluster would raise replicas to the minimum seconds later. */
export const NOT_SCALED: IstioSpec = { components: { ingressGateway: ONE_POD, pilot: ONE_POD } };

export interface RunningMesh {
  readonly client: Client;
  /** How many writes the controllers have made. */
  readonly writes: number;
  /** The warnings and errors that they logged. */
  readonly lines: readonly string[];
  /** The tables of their cache. */
  readonly tables: Tables;
  /** Stops the controllers if they run, and starts them with these settings. */
  start(settings?: Partial<MeshSettings>): Promise<void>;
  /** Creates an Istio resource. */
  create(spec?: IstioSpec, metadata?: Partial<Istio['metadata']>): Promise<void>;
  /** Applies a merge patch to the resource. */
  change(body: object, name?: string): Promise<void>;
  istio(name?: string): Promise<Istio | undefined>;
  /** Resolves with the resource once it is in this state, with its current generation observed. */
  inState(state: string, name?: string): Promise<Istio>;
  find<T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<T | undefined>;
  /** Resolves when the controllers are idle. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a cluster with the controllers of the mesh. */
export async function startMesh(settings: Partial<MeshSettings> = {}): Promise<RunningMesh> {
  const cluster = await startEmbedded();
  const client = connectAdmin(cluster);
  await client.create(CustomResourceDefinition, resource.crd);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
  const lines: string[] = [];
  let manager: Manager | undefined;
  let before = 0;
  let writes = 0;
  const find: RunningMesh['find'] = (kind, ref) => findObject(client, kind, ref);
  const istio: RunningMesh['istio'] = (name = 'default') => find(Istio, { namespace: 'kyma-system', name });
  const start: RunningMesh['start'] = async (others = {}) => {
    await manager?.stop();
    before += writes;
    writes = 0;
    manager = new Manager({
      client,
      controllers: mesh({
        renderer: builtinRenderer,
        failureBaseDelayMs: 10,
        settleMs: 50,
        reconnectMs: 0,
        ...settings,
        ...others,
      }),
      logger: createLogger({ level: 'warn', format: 'json', write: (line) => void lines.push(line) }),
      onWrite: (count) => (writes = count),
    });
    await manager.start();
  };
  await start();
  return {
    client,
    get writes() {
      return before + writes;
    },
    lines,
    get tables() {
      return manager!.tables;
    },
    start,
    async create(spec = {}, metadata = {}) {
      const { apiVersion, kind } = { apiVersion: 'operator.kyma-project.io/v1alpha2', kind: 'Istio' };
      await client.create(Istio, {
        apiVersion,
        kind,
        metadata: { name: 'default', namespace: 'kyma-system', ...metadata },
        spec,
      });
    },
    async change(body, name = 'default') {
      await client.patch(Istio, { namespace: 'kyma-system', name }, { type: 'merge', body });
    },
    istio,
    async inState(state, name) {
      let found: Istio | undefined;
      await until(async () => {
        found = await istio(name);
        return found?.status?.state === state && found.status.observedGeneration === found.metadata.generation;
      }, 20_000).catch(() => {
        throw new Error(`expected ${state}, found ${JSON.stringify(found?.status, null, 2)}`);
      });
      return found!;
    },
    find,
    idle: () => settled(manager!),
    async stop() {
      await manager?.stop();
      client.close();
      await cluster.stop();
    },
  };
}

/** The description of a resource, and the reason of its condition `Ready`. */
export function descriptionAndReason({
  status,
}: Istio): readonly [description: string | undefined, reason: string | undefined] {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return [status?.description, ready?.reason];
}
