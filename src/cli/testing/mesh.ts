// An embedded cluster with Istio resources, for tests of `offshoot mesh`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { istio } from '../../api/istio.ts';
import { startEmbedded } from '../../embedded/index.ts';
import { connect, defineKind } from '../../kube/index.ts';
import type { Client } from '../../kube/index.ts';
import { runnerFor } from './offshoot-process.ts';
import type { Runner } from './offshoot-process.ts';

export interface MeshCluster extends Runner {
  readonly client: Client;
  readonly dir: string;
  stop(): Promise<void>;
}

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** Starts a cluster with the kind Istio and the namespaces of a mesh. */
export async function openMesh(): Promise<MeshCluster> {
  const cluster = await startEmbedded();
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-mesh-'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  const client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  await client.create(Definition, istio.crd);
  for (const name of ['kyma-system', 'istio-system']) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  return {
    client,
    dir,
    ...runnerFor(kubeconfig),
    async stop() {
      client.close();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
