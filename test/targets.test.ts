// Claims from end to end on the embedded cluster: provisioned, bound, used with their own credentials, and taken back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { managedEnvironment, space, Space, spaceRequest, SpaceRequest } from '../src/api/spaces.ts';
import {
  deploymentTarget,
  DeploymentTarget,
  deploymentTargetClaim,
  DeploymentTargetClaim,
  deploymentTargetClass,
  DeploymentTargetClass,
  environment,
} from '../src/api/targets.ts';
import { createLogger, Manager } from '../src/controller/index.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { connect, defineKind, isForbidden, isNotFound } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind, KubeObject } from '../src/kube/index.ts';
import { targets } from '../src/targets/index.ts';
import { Namespace, Secret } from '../src/targets/objects.ts';
import { configMap, configMaps } from './support/kinds.ts';
import { until } from './support/until.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

let cluster: Embedded;
let client: Client;
let manager: Manager;

beforeAll(async () => {
  cluster = await startEmbedded();
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  const resources = [
    deploymentTarget,
    deploymentTargetClaim,
    deploymentTargetClass,
    environment,
    spaceRequest,
    space,
    managedEnvironment,
  ];
  for (const { crd } of resources) await client.create(Definition, crd);
  for (const name of ['offshoot-system', 'team']) await create(Namespace, { metadata: { name } });
  manager = new Manager({
    client,
    controllers: targets({ cluster: { name: 'local', roles: [], server: cluster.url, caPem: cluster.caPem } }),
    logger: createLogger({ level: process.env['LOG'] ?? 'silent' }),
  });
  await manager.start();
});

afterAll(async () => {
  await manager.stop();
  client.close();
  await cluster.stop();
});

function create(kind: AnyKind, object: Pick<KubeObject, 'metadata'> & Record<string, unknown>): Promise<AnyObject> {
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  return client.create(kind as Kind, { apiVersion, kind: kind.kind, ...object });
}

async function find<T extends KubeObject>(kind: Kind<T>, name: string, namespace = 'team'): Promise<T | undefined> {
  try {
    return await client.get(kind, kind.namespaced ? { name, namespace } : { name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** What the credentials of a target are good for. */
async function accessOf(target: DeploymentTarget): Promise<{ client: Client; namespace: string }> {
  const secret = await client.get(Secret, {
    name: target.spec.kubernetesCredentials.clusterCredentialsSecret,
    namespace: 'team',
  });
  const config = parse(Buffer.from(secret.data!['kubeconfig']!, 'base64').toString()) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { token: string } }[];
    contexts: { context: { namespace: string } }[];
  };
  const { server, 'certificate-authority-data': ca } = config.clusters[0]!.cluster;
  const caPem = Buffer.from(ca, 'base64').toString();
  return {
    client: connect({ server, caPem, token: config.users[0]!.user.token }),
    namespace: config.contexts[0]!.context.namespace,
  };
}

async function bound(name: string): Promise<DeploymentTarget> {
  await until(async () => (await find(DeploymentTargetClaim, name))?.status?.phase === 'Bound', 20_000);
  const claim = await find(DeploymentTargetClaim, name);
  return (await find(DeploymentTarget, claim!.spec.targetName!))!;
}

test('a claim of a sandbox class gets a space, deploys to it and nowhere else, and leaves nothing behind', async () => {
  await create(DeploymentTargetClass, {
    metadata: { name: 'sandbox' },
    spec: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete' },
  });
  await create(DeploymentTargetClaim, {
    metadata: { name: 'staging', namespace: 'team' },
    spec: { deploymentTargetClassName: 'sandbox' },
  });
  const target = await bound('staging');
  expect(target.metadata.name).toBe('staging-dt');
  const access = await accessOf(target);
  await access.client.create(configMaps, configMap(access.namespace, 'app'));
  await expect(access.client.create(configMaps, configMap('team', 'app'))).rejects.toSatisfy(isForbidden);
  access.client.close();

  await client.delete(DeploymentTargetClaim, { name: 'staging', namespace: 'team' });
  await until(async () => (await find(DeploymentTargetClaim, 'staging')) === undefined, 20_000);
  expect((await client.list(SpaceRequest)).items).toEqual([]);
  expect((await client.list(Space)).items).toEqual([]);
  expect(await find(DeploymentTarget, 'staging-dt')).toBeUndefined();
  expect(await find(Namespace, access.namespace)).toBeUndefined();
});
