// Many claims for one target, with two control planes without leader election: each acts on its own, possibly stale,
// cache.
import { expect, onTestFinished, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim } from '../../src/api/targets.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { targets } from '../../src/targets/index.ts';
import type { Cluster } from '../cluster/index.ts';
import { poll } from '../scenarios/poll.ts';
import type { TargetsSession } from './session.ts';

const CLAIMS = 20;
const DEADLINE_MS = 40_000;
const apiVersion = 'appstudio.redhat.com/v1alpha1';

export function raceSuite(cluster: Cluster, session: () => TargetsSession): void {
  test(`only one of ${CLAIMS} claims has the only target at any time`, async () => {
    const client = cluster.client();
    const namespace = await cluster.namespace('race');
    const rival = new Manager({
      client,
      controllers: targets({ hostNamespace: session().host }),
      logger: createLogger({ level: 'silent' }),
    });
    // It has the wrong address of the cluster, so it must stop before other tests run.
    onTestFinished(() => rival.stop());
    await rival.start();
    const credentials = {
      defaultNamespace: 'a',
      apiURL: 'https://elsewhere.example',
      clusterCredentialsSecret: 'none',
    };
    const spec = { deploymentTargetClassName: '' };
    const claim = (i: number): Promise<unknown> =>
      client.create(DeploymentTargetClaim, {
        apiVersion,
        kind: 'DeploymentTargetClaim',
        metadata: { name: `claim-${i}`, namespace },
        spec,
      });
    const target = client.create(DeploymentTarget, {
      apiVersion,
      kind: 'DeploymentTarget',
      metadata: { name: 'only', namespace },
      spec: { ...spec, kubernetesCredentials: credentials },
    });
    await Promise.all([target, ...Array.from({ length: CLAIMS }, (_none, i) => claim(i))]);

    for (let left = CLAIMS; left > CLAIMS - 4; left--) {
      const settled = async (): Promise<boolean> => {
        const { items } = await client.list(DeploymentTargetClaim, { namespace });
        const bound = items.filter(({ status }) => status?.phase === 'Bound').length;
        return bound === 1 && items.filter(({ status }) => status?.phase === 'Pending').length === left - 1;
      };
      await poll(settled, DEADLINE_MS);
      const { items } = await client.list(DeploymentTargetClaim, { namespace });
      const holder = items.find(({ status }) => status?.phase === 'Bound')!;
      const held = await client.get(DeploymentTarget, { name: 'only', namespace });
      expect(held.spec.claimRef).toBe(holder.metadata.name);
      await client.delete(DeploymentTargetClaim, holder.metadata);
      const isReleased = async (): Promise<boolean> =>
        (await client.get(DeploymentTarget, { name: 'only', namespace })).status?.phase === 'Released';
      await poll(isReleased, DEADLINE_MS);
      const annotations = { 'dt.appstudio.redhat.com/make-available': 'true' };
      const body = { metadata: { annotations } };
      await client.patch(DeploymentTarget, { name: 'only', namespace }, { type: 'merge', body });
    }
    expect(mostHoldersAtOnce(session(), namespace)).toBe(1);
    expect(handedOver(session(), namespace)).toEqual([]);
  }, 120_000);
}

/** The maximum number of claims that were bound at the same time. */
function mostHoldersAtOnce({ history }: TargetsSession, namespace: string): number {
  const bound = new Set<string>();
  let most = 0;
  for (const { object } of history.versions) {
    const { kind, metadata, status, gone } = object as unknown as DeploymentTargetClaim & { gone?: true };
    if (kind !== 'DeploymentTargetClaim' || metadata.namespace !== namespace) continue;
    // A claim that is being deleted does not count.
    const holds = status?.phase === 'Bound' && gone === undefined && metadata.deletionTimestamp === undefined;
    if (holds) bound.add(metadata.name);
    else bound.delete(metadata.name);
    most = Math.max(most, bound.size);
  }
  return most;
}

/** claimRefs that changed from one claim to another without being cleared in between. */
function handedOver({ history }: TargetsSession, namespace: string): string[] {
  return history.versions.flatMap(({ object, before }) => {
    if (object.kind !== 'DeploymentTarget' || object.metadata.namespace !== namespace) return [];
    const [from = '', to = ''] = [before, object].map(
      (each) => (each as DeploymentTarget | undefined)?.spec.claimRef as string | undefined,
    );
    return from !== '' && to !== '' && from !== to ? [`${from} to ${to}`] : [];
  });
}
