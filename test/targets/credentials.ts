// The permissions of the credentials of a claim: they allow deploying to its namespace and nothing else; after the
// claim is deleted, nothing at all. Tested with the kubeconfig in the Secret.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { SpaceRequest } from '../../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../src/api/targets.ts';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client, ConnectConfig, RawRequest } from '../../src/kube/index.ts';
import { Namespace, Secret, ServiceAccount } from '../../src/targets/objects.ts';
import type { Cluster } from '../cluster/index.ts';
import { poll } from '../scenarios/poll.ts';
import { openKubectl } from '../scenarios/session.ts';
import { takeAway } from './leftovers.ts';
import { ATTEMPTS, DENIED_EVERYWHERE, DEPLOYING, workload } from './permissions.ts';
import type { Permission } from './permissions.ts';
import type { TargetsSession } from './session.ts';

const DEADLINE_MS = 40_000;
const apiVersion = 'appstudio.redhat.com/v1alpha1';

interface ClaimedNamespace {
  /** The namespace of the claims and their Secrets. */
  readonly team: string;
  /** The namespace to deploy to, and that of another claim. */
  readonly namespace: string;
  readonly neighbour: string;
  /** The name of the Secret with the credentials. */
  readonly secret: string;
  readonly kubeconfigPath: string;
  readonly config: ConnectConfig;
  /** Uses the credentials. */
  readonly client: Client;
}

export function credentialsSuite(cluster: Cluster, session: () => TargetsSession): void {
  describe.concurrent.each([
    ['appstudio.redhat.com/devsandbox', 'namespace-manager'],
    ['offshoot.dev/namespace', 'deployer'],
  ])('credentials from %s', (provisioner, account) => {
    test('work only in the namespace of the claim, and nowhere once the claim is deleted', async () => {
      await withClaim(cluster, provisioner, async (claimed) => {
        const { namespace, client, team, neighbour } = claimed;
        const elsewhere = [team, neighbour, session().host, 'default', 'kube-system'];

        await deploy(claimed);
        const granted = await Promise.all(DEPLOYING.map((permission) => mayI(client, permission, namespace)));
        expect(DEPLOYING.filter((_permission, i) => !granted[i])).toEqual([]);
        for (const other of elsewhere) {
          const permissions = [...DEPLOYING, ...DENIED_EVERYWHERE];
          const found = await Promise.all(permissions.map((permission) => mayI(client, permission, other)));
          expect(
            permissions.filter((_permission, i) => found[i]),
            other,
          ).toEqual([]);
        }
        const here = await Promise.all(DENIED_EVERYWHERE.map((permission) => mayI(client, permission, namespace)));
        expect(DENIED_EVERYWHERE.filter((_permission, i) => here[i])).toEqual([]);

        // Do not only ask the server for permissions: try forbidden requests.
        const names = { namespace, account, team, neighbour, host: session().host };
        const outcomes = await Promise.all(
          ATTEMPTS.map(async ({ what, as, request }) => {
            const actor = connect({ ...claimed.config, ...(as && { impersonate: as(names) }) });
            return [what, await answerTo(actor, request(names)).finally(() => actor.close())];
          }),
        );
        expect(outcomes).toEqual(ATTEMPTS.map(({ what }) => [what, 403]));

        await cluster.client().delete(DeploymentTargetClaim, { name: 'mine', namespace: team });
        await expect(isRejected(claimed)).resolves.toBe(true);
      });
    }, 120_000);

    test('are reissued when the account is recreated or they are overwritten, and old ones of a retained target stop working', async () => {
      await withClaim(
        cluster,
        provisioner,
        async (claimed) => {
          const admin = cluster.client();
          const { namespace, team, secret } = claimed;
          expect(await answerTo(claimed.client, readRequest(namespace))).toBe(200);

          await admin.delete(ServiceAccount, { name: account, namespace });
          await poll(() => isAccepted(admin, claimed), DEADLINE_MS);
          await expect(isRejected(claimed)).resolves.toBe(true);

          const garbage = { data: { kubeconfig: Buffer.from('nothing').toString('base64') } };
          await admin.patch(Secret, { name: secret, namespace: team }, { type: 'merge', body: garbage });
          await poll(() => isAccepted(admin, claimed), DEADLINE_MS);

          const last = await current(admin, claimed);
          await admin.delete(DeploymentTargetClaim, { name: 'mine', namespace: team });
          await expect(isRejected({ ...claimed, client: connect(last) })).resolves.toBe(true);
          await poll(() => isAccepted(admin, claimed), DEADLINE_MS);
        },
        'Retain',
      );
    }, 120_000);
  });
}

function readRequest(namespace: string): RawRequest {
  return { path: `/api/v1/namespaces/${namespace}/configmaps` };
}

/** Resolves with true when credentials are rejected. A real server caches authentication for some seconds. */
async function isRejected({ client, namespace }: Pick<ClaimedNamespace, 'client' | 'namespace'>): Promise<boolean> {
  await poll(async () => (await answerTo(client, readRequest(namespace))) === 401, DEADLINE_MS);
  return true;
}

/** The current credentials in the Secret. */
async function current(
  admin: Client,
  { team, secret, kubeconfigPath }: Pick<ClaimedNamespace, 'team' | 'secret' | 'kubeconfigPath'>,
): Promise<ConnectConfig> {
  const { data } = await admin.get(Secret, { name: secret, namespace: team });
  writeFileSync(kubeconfigPath, Buffer.from(data!['kubeconfig']!, 'base64'), { mode: 0o600 });
  return loadConfig({ path: kubeconfigPath });
}

/** Whether the current credentials in the Secret are accepted. */
async function isAccepted(admin: Client, claimed: ClaimedNamespace): Promise<boolean> {
  try {
    const client = connect(await current(admin, claimed));
    return (await answerTo(client, readRequest(claimed.namespace)).finally(() => client.close())) === 200;
  } catch {
    // The Secret is being written.
    return false;
  }
}

/** Claims two namespaces and passes on the first one; deletes both claims in the end. */
async function withClaim(
  cluster: Cluster,
  provisioner: string,
  use: (claimed: ClaimedNamespace) => Promise<void>,
  reclaimPolicy: 'Delete' | 'Retain' = 'Delete',
): Promise<void> {
  const admin = cluster.client();
  const team = await cluster.namespace('team');
  const className = `class-${team}`;
  await admin.create(DeploymentTargetClass, {
    apiVersion,
    kind: 'DeploymentTargetClass',
    metadata: { name: className },
    spec: { provisioner, reclaimPolicy, parameters: {} },
  });
  const [mine, other] = await Promise.all(['mine', 'other'].map((name) => claimed(admin, team, name, className)));
  const { clusterCredentialsSecret: secret, defaultNamespace: namespace } = mine!.spec.kubernetesCredentials;
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-credentials-'));
  const kubeconfigPath = path.join(dir, 'kubeconfig');
  const config = await current(admin, { team, secret, kubeconfigPath });
  const client = connect(config);
  const neighbour = other!.spec.kubernetesCredentials.defaultNamespace;
  try {
    await use({ team, namespace, neighbour, secret, kubeconfigPath, config, client });
  } finally {
    client.close();
    rmSync(dir, { recursive: true, force: true });
    await takeAway(admin, team);
    // Delete what the class retains.
    const { items: requests } = await admin.list(SpaceRequest, { namespace: team });
    for (const { metadata } of requests) await admin.delete(SpaceRequest, metadata);
    if (reclaimPolicy === 'Retain' && requests.length === 0) {
      for (const name of [namespace, neighbour]) await admin.delete(Namespace, { name });
    }
  }
}

async function claimed(admin: Client, namespace: string, name: string, className: string): Promise<DeploymentTarget> {
  await admin.create(DeploymentTargetClaim, {
    apiVersion,
    kind: 'DeploymentTargetClaim',
    metadata: { name, namespace },
    spec: { deploymentTargetClassName: className },
  });
  const ref = { name, namespace };
  const isBound = async (): Promise<boolean> => (await admin.get(DeploymentTargetClaim, ref)).status?.phase === 'Bound';
  await poll(isBound, DEADLINE_MS);
  const { spec } = await admin.get(DeploymentTargetClaim, ref);
  return admin.get(DeploymentTarget, { name: spec.targetName!, namespace });
}

/** Deploys, changes and deletes, as a user of the kubeconfig would, in the namespace that it names. */
async function deploy({ kubeconfigPath, namespace }: ClaimedNamespace): Promise<void> {
  const { actions, close } = openKubectl(kubeconfigPath);
  try {
    const objects = workload();
    await actions.apply(objects);
    const [deployment] = objects;
    await actions.patch({ ...deployment!, spec: { replicas: 2 } });
    expect(
      (await actions.list({ ...deployment!, metadata: { name: '', namespace } })).map(({ metadata }) => metadata),
    ).toMatchObject([{ name: 'app', namespace }]);
    await actions.delete(objects);
  } finally {
    close();
  }
}

async function mayI(client: Client, { verb, group = '', resource }: Permission, namespace: string): Promise<boolean> {
  const [name, subresource] = resource.split('/');
  const { status } = await client.raw<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb, group, resource: name, ...(subresource && { subresource }), namespace } },
    },
  });
  return status.allowed;
}

/** The status code of the response to a request. */
async function answerTo(client: Client, request: RawRequest): Promise<number | undefined> {
  return client.raw(request).then(
    () => 200,
    (error: unknown) => (error as { code?: number }).code,
  );
}
