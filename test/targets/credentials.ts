// What the credentials of a claim are good for: deploying to its claimed, and nothing else, anywhere; after the claim
// nothing at all. Tried with the kubeconfig as it is found in the Secret.
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
import { ATTEMPTS, DENIED_EVERYWHERE, DEPLOYING, workload } from './rights.ts';
import type { Right } from './rights.ts';
import type { TargetsSession } from './session.ts';

const DEADLINE_MS = 40_000;
const apiVersion = 'appstudio.redhat.com/v1alpha1';

interface ClaimedNamespace {
  /** Where the claims are, and their Secrets. */
  readonly team: string;
  /** The place to deploy to, and that of another claim. */
  readonly namespace: string;
  readonly neighbour: string;
  /** Where the credentials are. */
  readonly secret: string;
  readonly kubeconfigPath: string;
  readonly config: ConnectConfig;
  /** Acts with the credentials. */
  readonly client: Client;
}

export function credentialsSuite(cluster: Cluster, session: () => TargetsSession): void {
  describe.concurrent.each([
    ['appstudio.redhat.com/devsandbox', 'namespace-manager'],
    ['offshoot.dev/namespace', 'deployer'],
  ])('from %s', (provisioner, account) => {
    test('are good for the place of the claim alone, and for nothing once the claim is gone', async () => {
      await withClaim(cluster, provisioner, async (claimed) => {
        const { namespace, client, team, neighbour } = claimed;
        const elsewhere = [team, neighbour, session().host, 'default', 'kube-system'];

        await deploy(claimed);
        const granted = await Promise.all(DEPLOYING.map((right) => mayI(client, right, namespace)));
        expect(DEPLOYING.filter((_right, i) => !granted[i])).toEqual([]);
        for (const other of elsewhere) {
          const rights = [...DEPLOYING, ...DENIED_EVERYWHERE];
          const found = await Promise.all(rights.map((right) => mayI(client, right, other)));
          expect(
            rights.filter((_right, i) => found[i]),
            other,
          ).toEqual([]);
        }
        const here = await Promise.all(DENIED_EVERYWHERE.map((right) => mayI(client, right, namespace)));
        expect(DENIED_EVERYWHERE.filter((_right, i) => here[i])).toEqual([]);

        // What the server says about rights is one thing. What it does is another.
        const words = { namespace, account, team, neighbour, host: session().host };
        const outcomes = await Promise.all(
          ATTEMPTS.map(async ({ what, as, request }) => {
            const actor = connect({ ...claimed.config, ...(as && { impersonate: as(words) }) });
            return [what, await answerTo(actor, request(words)).finally(() => actor.close())];
          }),
        );
        expect(outcomes).toEqual(ATTEMPTS.map(({ what }) => [what, 403]));

        await cluster.client().delete(DeploymentTargetClaim, { name: 'mine', namespace: team });
        await expect(isShutOut(claimed)).resolves.toBe(true);
      });
    }, 120_000);

    test('are issued again when the account is recreated or somebody overwrites them, and shut whoever had a place that is kept', async () => {
      await withClaim(
        cluster,
        provisioner,
        async (claimed) => {
          const admin = cluster.client();
          const { namespace, team, secret } = claimed;
          expect(await answerTo(claimed.client, lookInto(namespace))).toBe(200);

          await admin.delete(ServiceAccount, { name: account, namespace });
          await poll(() => isLetIn(admin, claimed), DEADLINE_MS);
          await expect(isShutOut(claimed)).resolves.toBe(true);

          const garbage = { data: { kubeconfig: Buffer.from('nothing').toString('base64') } };
          await admin.patch(Secret, { name: secret, namespace: team }, { type: 'merge', body: garbage });
          await poll(() => isLetIn(admin, claimed), DEADLINE_MS);

          const last = await current(admin, claimed);
          await admin.delete(DeploymentTargetClaim, { name: 'mine', namespace: team });
          await expect(isShutOut({ ...claimed, client: connect(last) })).resolves.toBe(true);
          await poll(() => isLetIn(admin, claimed), DEADLINE_MS);
        },
        'Retain',
      );
    }, 120_000);
  });
}

function lookInto(namespace: string): RawRequest {
  return { path: `/api/v1/namespaces/${namespace}/configmaps` };
}

/** Resolves with true when credentials are good for nothing. A real server remembers for some seconds whom it let in. */
async function isShutOut({ client, namespace }: Pick<ClaimedNamespace, 'client' | 'namespace'>): Promise<boolean> {
  await poll(async () => (await answerTo(client, lookInto(namespace))) === 401, DEADLINE_MS);
  return true;
}

/** The credentials that are in the Secret now. */
async function current(
  admin: Client,
  { team, secret, kubeconfigPath }: Pick<ClaimedNamespace, 'team' | 'secret' | 'kubeconfigPath'>,
): Promise<ConnectConfig> {
  const { data } = await admin.get(Secret, { name: secret, namespace: team });
  writeFileSync(kubeconfigPath, Buffer.from(data!['kubeconfig']!, 'base64'), { mode: 0o600 });
  return loadConfig({ path: kubeconfigPath });
}

/** Whether the credentials that are in the Secret now are good. */
async function isLetIn(admin: Client, claimed: ClaimedNamespace): Promise<boolean> {
  try {
    const client = connect(await current(admin, claimed));
    return (await answerTo(client, lookInto(claimed.namespace)).finally(() => client.close())) === 200;
  } catch {
    // It is being written.
    return false;
  }
}

/** Claims two places and hands over the first one; takes both back in the end. */
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
    // What the class keeps.
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

/** Deploys, changes and deletes as a person would who got the file: the namespace is the one that it names. */
async function deploy({ kubeconfigPath, namespace }: ClaimedNamespace): Promise<void> {
  const { hands, close } = openKubectl(kubeconfigPath);
  try {
    const objects = workload();
    await hands.apply(objects);
    const [deployment] = objects;
    await hands.patch({ ...deployment!, spec: { replicas: 2 } });
    expect(
      (await hands.list({ ...deployment!, metadata: { name: '', namespace } })).map(({ metadata }) => metadata),
    ).toMatchObject([{ name: 'app', namespace }]);
    await hands.delete(objects);
  } finally {
    close();
  }
}

async function mayI(client: Client, { verb, group = '', resource }: Right, namespace: string): Promise<boolean> {
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

/** The code that a request is answered with. */
async function answerTo(client: Client, request: RawRequest): Promise<number | undefined> {
  return client.raw(request).then(
    () => 200,
    (error: unknown) => (error as { code?: number }).code,
  );
}
