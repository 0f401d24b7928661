// Claims from end to end: provisioned, bound, used with their own credentials, and taken back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ManagedEnvironment, managedEnvironment, space, Space, spaceRequest, SpaceRequest } from '../src/api/spaces.ts';
import {
  deploymentTarget,
  DeploymentTarget,
  deploymentTargetClaim,
  DeploymentTargetClaim,
  deploymentTargetClass,
  DeploymentTargetClass,
  environment,
  Environment,
} from '../src/api/targets.ts';
import { createLogger, Manager } from '../src/controller/index.ts';
import { connect, defineKind, isAlreadyExists, isForbidden, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind, KubeObject } from '../src/kube/index.ts';
import { targets } from '../src/targets/index.ts';
import { Namespace, ResourceQuota, Secret } from '../src/targets/objects.ts';
import { describeClusters } from './cluster/index.ts';
import { configMap, configMaps } from './support/kinds.ts';
import { until } from './support/until.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

const RESOURCES = [
  deploymentTarget,
  deploymentTargetClaim,
  deploymentTargetClass,
  environment,
  spaceRequest,
  space,
  managedEnvironment,
];

describeClusters('claims', (cluster) => {
  let client: Client;
  let manager: Manager;
  /** Where the claims are. Also part of the names of what has no namespace, for suites share a cluster. */
  let team: string;
  let apiURL: string;

  beforeAll(async () => {
    client = cluster.client();
    for (const { crd } of RESOURCES) {
      await client.create(Definition, crd).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    }
    team = await cluster.namespace('team');
    const { server, caPem = '' } = loadConfig({ path: cluster.kubeconfigPath });
    apiURL = server;
    manager = new Manager({
      client,
      controllers: targets({
        hostNamespace: await cluster.namespace('host'),
        cluster: { name: 'local', roles: [], server, caPem },
      }),
      logger: createLogger({ level: 'silent' }),
    });
    await manager.start();
  });

  afterAll(async () => {
    await manager.stop();
  });

  function create(kind: AnyKind, object: Pick<KubeObject, 'metadata'> & Record<string, unknown>): Promise<AnyObject> {
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return client.create(kind as Kind, { apiVersion, kind: kind.kind, ...object });
  }

  async function find<T extends KubeObject>(kind: Kind<T>, name: string, namespace = team): Promise<T | undefined> {
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
      namespace: team,
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
      metadata: { name: `sandbox-${team}` },
      spec: { provisioner: 'appstudio.redhat.com/devsandbox', reclaimPolicy: 'Delete' },
    });
    await create(DeploymentTargetClaim, {
      metadata: { name: 'staging', namespace: team },
      spec: { deploymentTargetClassName: `sandbox-${team}` },
    });
    const target = await bound('staging');
    expect(target.metadata.name).toBe('staging-dt');
    const access = await accessOf(target);
    await access.client.create(configMaps, configMap(access.namespace, 'app'));
    await expect(access.client.create(configMaps, configMap(team, 'app'))).rejects.toSatisfy(isForbidden);
    access.client.close();

    await create(Environment, {
      metadata: { name: 'prod', namespace: team },
      spec: {
        displayName: 'Production',
        deploymentStrategy: 'Manual',
        configuration: { target: { deploymentTargetClaim: { claimName: 'staging' } } },
      },
    });
    await until(async () => (await find(ManagedEnvironment, 'managed-environment-prod')) !== undefined);
    expect((await find(ManagedEnvironment, 'managed-environment-prod'))!.spec).toEqual({
      apiURL,
      credentialsSecret: 'managed-environment-secret-prod',
      allowInsecureSkipTLSVerify: false,
      namespaces: [access.namespace],
    });
    const copied = await find(Secret, 'managed-environment-secret-prod');
    const { clusterCredentialsSecret } = target.spec.kubernetesCredentials;
    expect(copied!.data).toEqual((await find(Secret, clusterCredentialsSecret))!.data);
    expect((await find(Environment, 'prod'))!.status).toBeUndefined();
    await client.delete(Environment, { name: 'prod', namespace: team });
    await until(async () => (await find(ManagedEnvironment, 'managed-environment-prod')) === undefined);

    await client.delete(DeploymentTargetClaim, { name: 'staging', namespace: team });
    await until(async () => (await find(DeploymentTargetClaim, 'staging')) === undefined, 20_000);
    expect((await client.list(SpaceRequest, { namespace: team })).items).toEqual([]);
    expect(
      (await client.list(Space)).items.filter(
        ({ metadata }) => metadata.labels?.['toolchain.dev.openshift.com/spacerequest-namespace'] === team,
      ),
    ).toEqual([]);
    expect(await find(DeploymentTarget, 'staging-dt')).toBeUndefined();
    expect(await find(Namespace, access.namespace)).toBeUndefined();
    // The garbage collector of a real cluster learns of new kinds every half minute.
    await until(async () => (await find(Secret, 'managed-environment-secret-prod')) === undefined, 60_000);
  }, 120_000);

  test('a claim of a class of namespaces gets one with the limits of the class, and the next claim one in reserve', async () => {
    await create(DeploymentTargetClass, {
      metadata: { name: `local-${team}` },
      spec: {
        provisioner: 'offshoot.dev/namespace',
        reclaimPolicy: 'Delete',
        parameters: { quota: { 'count/configmaps': 5 }, labels: { tier: 'test' }, warm: 1 },
      },
    });
    const spec = { deploymentTargetClassName: `local-${team}` };
    const place = `place-${team}`;
    const annotations = { 'dt.appstudio.redhat.com/requested-namespace': place };
    await create(DeploymentTargetClaim, { metadata: { name: 'first', namespace: team, annotations }, spec });
    const first = await bound('first');
    const access = await accessOf(first);
    expect(access.namespace).toBe(place);
    await access.client.create(configMaps, configMap(place, 'app'));
    await expect(access.client.create(configMaps, configMap(team, 'app'))).rejects.toSatisfy(isForbidden);
    access.client.close();
    expect((await find(Namespace, place))!.metadata.labels).toMatchObject({ tier: 'test' });
    expect((await find(ResourceQuota, 'offshoot', place))!['spec']).toEqual({ hard: { 'count/configmaps': '5' } });

    const reserve = async () => {
      const { items } = await client.list(DeploymentTarget, { namespace: team });
      return items.filter(({ spec, status }) => !spec.claimRef && status?.phase === 'Available');
    };
    await until(async () => (await reserve()).length === 1);
    const [spare] = await reserve();
    await create(DeploymentTargetClaim, { metadata: { name: 'second', namespace: team }, spec });
    expect((await bound('second')).metadata.name).toBe(spare!.metadata.name);
    const claim = await find(DeploymentTargetClaim, 'second');
    expect(claim?.metadata.annotations).not.toHaveProperty('provisioner.appstudio.redhat.com/dt-provisioner');
    await until(async () => (await reserve()).length === 1);

    for (const name of ['first', 'second']) await client.delete(DeploymentTargetClaim, { name, namespace: team });
    await until(async () => (await client.list(DeploymentTarget, { namespace: team })).items.length === 0, 20_000);
    const left = async (): Promise<number> => {
      const namespaces = await client.list(Namespace, { labelSelector: 'offshoot.dev/provisioner' });
      const secrets = await client.list(Secret, { namespace: team, labelSelector: 'offshoot.dev/provisioner' });
      return namespaces.items.length + secrets.items.length;
    };
    await until(async () => (await left()) === 0, 20_000);
  });

  test('a name that is taken is told on the claim, and nothing is taken over', async () => {
    const busy = `busy-${team}`;
    await create(Namespace, { metadata: { name: busy } });
    const annotations = { 'dt.appstudio.redhat.com/requested-namespace': busy };
    const metadata = { name: 'wants-busy', namespace: team, annotations };
    await create(DeploymentTargetClaim, { metadata, spec: { deploymentTargetClassName: `local-${team}` } });
    const provisioned = async () => {
      const claim = await find(DeploymentTargetClaim, 'wants-busy');
      return claim?.status?.conditions?.find(({ type }) => type === 'Provisioned');
    };
    await until(async () => (await provisioned())?.reason === 'NamespaceTaken');
    expect((await find(Namespace, busy))!.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': busy });
    await client.delete(Namespace, { name: busy });
    expect((await bound('wants-busy')).spec.kubernetesCredentials.defaultNamespace).toBe(busy);
    await client.delete(DeploymentTargetClaim, { name: 'wants-busy', namespace: team });
    await until(async () => (await find(DeploymentTargetClaim, 'wants-busy')) === undefined);
  });
});
