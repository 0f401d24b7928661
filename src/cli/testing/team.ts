// A team's namespace on an embedded cluster, with the controllers for claims and targets. For tests of `offshoot claim`
// and `offshoot target`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { managedEnvironment, space, spaceRequest } from '../../api/spaces.ts';
import {
  DeploymentTarget,
  DeploymentTargetClass,
  deploymentTarget,
  deploymentTargetClaim,
  deploymentTargetClass,
  environment,
} from '../../api/targets.ts';
import { createLogger, Manager } from '../../controller/index.ts';
import { startEmbedded } from '../../embedded/index.ts';
import type { Client } from '../../kube/client/client.ts';
import { connect } from '../../kube/client/connect.ts';
import { defineKind } from '../../kube/objects.ts';
import { targets } from '../../targets/index.ts';
import { Namespace, Secret } from '../../targets/objects.ts';
import { runnerFor } from './offshoot-process.ts';
import type { Runner } from './offshoot-process.ts';

export interface Team extends Runner {
  readonly client: Client;
  readonly dir: string;
  /** Creates a target without a class; its Secret holds the admin's kubeconfig, or the given data. */
  createTarget(name: string, options?: { secret?: Readonly<Record<string, string>> | 'none' }): Promise<void>;
  addClass(name: string, provisioner: string, reclaimPolicy?: 'Delete' | 'Retain'): Promise<void>;
  stop(): Promise<void>;
}

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const RESOURCES = [
  deploymentTarget,
  deploymentTargetClaim,
  deploymentTargetClass,
  environment,
  managedEnvironment,
  space,
  spaceRequest,
];

/** Starts a cluster with a namespace `team`; without `controllers`, no controller manages its claims. */
export async function openTeam(options: { controllers?: boolean } = {}): Promise<Team> {
  const cluster = await startEmbedded();
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-cli-'));
  const kubeconfig = path.join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig().replaceAll(/^(\s+)user: .*$/gm, '$&\n$1namespace: team'));
  const client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  for (const { crd } of RESOURCES) await client.create(Definition, crd);
  for (const name of ['team', 'offshoot-system']) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  const manager = new Manager({
    client,
    controllers: targets({ cluster: { name: 'local', roles: [], server: cluster.url, caPem: cluster.caPem } }),
    logger: createLogger({ level: 'silent' }),
  });
  if (options.controllers ?? true) await manager.start();

  return {
    client,
    dir,
    ...runnerFor(kubeconfig),
    async createTarget(name, { secret = { kubeconfig: cluster.kubeconfig() } } = {}) {
      const secretName = `${name}-credentials`;
      if (secret !== 'none') {
        const data = Object.entries(secret).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
        await client.create(Secret, {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: secretName, namespace: 'team' },
          data: Object.fromEntries(data) as Record<string, string>,
        });
      }
      await client.create(DeploymentTarget, {
        apiVersion: 'appstudio.redhat.com/v1alpha1',
        kind: 'DeploymentTarget',
        metadata: { name, namespace: 'team' },
        spec: {
          deploymentTargetClassName: '',
          kubernetesCredentials: {
            defaultNamespace: 'team',
            apiURL: cluster.url,
            clusterCredentialsSecret: secretName,
          },
        },
      });
    },
    async addClass(name, provisioner, reclaimPolicy = 'Delete') {
      await client.create(DeploymentTargetClass, {
        apiVersion: 'appstudio.redhat.com/v1alpha1',
        kind: 'DeploymentTargetClass',
        metadata: { name },
        spec: { provisioner, reclaimPolicy },
      });
    },
    async stop() {
      await manager.stop();
      client.close();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
