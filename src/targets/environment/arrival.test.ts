// The order in which things are made, and in which the news of them arrives, does not show in the end.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { claim, ClaimWorld, target, targetClass } from '../../../test/support/claims.ts';
import { Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';

const apiVersion = 'appstudio.redhat.com/v1alpha1';
const meta = (name: string) => ({ name, namespace: 'test-ns' });
const environment = (name: string, spec: object): KubeObject & { spec: object } => ({
  apiVersion,
  kind: 'Environment',
  metadata: meta(name),
  spec: { displayName: name, deploymentStrategy: 'Manual', ...spec },
});
const byClaim = (claimName: string) => ({ configuration: { target: { deploymentTargetClaim: { claimName } } } });
const secret = (name: string): KubeObject & { type: string; data: object } => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: meta(name),
  type: 'Opaque',
  data: { kubeconfig: 'eA==' },
});
const kubernetesCredentials = {
  targetNamespace: 'shop',
  apiURL: 'https://own',
  clusterCredentialsSecret: 'key',
  allowInsecureSkipTLSVerify: false,
};
const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** What people make at once: a pipeline, or `kubectl apply` of a folder. */
const SETS: Readonly<Record<string, readonly KubeObject[]>> = {
  'an environment with credentials of its own': [
    secret('key'),
    environment('direct', { unstableConfigurationFields: { kubernetesCredentials } }),
  ],
  'a claim by a target that refers to it, with an environment': [
    secret('test-secret'),
    target('mine', { claimRef: 'test-dtc', deploymentTargetClassName: '' }),
    claim('test-dtc', { deploymentTargetClassName: '', ttl: '1h' }),
    environment('env', byClaim('test-dtc')),
  ],
  'a claim that names its target, with an environment': [
    secret('test-secret'),
    target('mine', { deploymentTargetClassName: '' }),
    claim('test-dtc', { deploymentTargetClassName: '', targetName: 'mine' }),
    environment('env', byClaim('test-dtc')),
  ],
  'claims of provisioned classes, with environments': [
    targetClass('Delete', 'sandbox'),
    targetClass('Retain', 'room', 'offshoot.dev/namespace', { warm: 1 }),
    claim('one', { deploymentTargetClassName: 'sandbox' }),
    claim('two', { deploymentTargetClassName: 'room' }),
    environment('env-one', byClaim('one')),
    environment('env-two', byClaim('two')),
  ],
};

const KINDS = ['environments', 'secrets', 'deploymenttargetclaims', 'deploymenttargets', 'deploymenttargetclasses'];

interface Arrival {
  /** The place of each object in the order. */
  readonly order: readonly number[];
  /** Whether the controllers get to their end after each of them. */
  readonly pauses: readonly boolean[];
  /** Kinds of which news travel slowly. */
  readonly slow: readonly string[];
}

/** The end state, without what is made up on the way. */
async function endOf(objects: readonly KubeObject[], { order, pauses, slow }: Arrival): Promise<unknown> {
  const w = new ClaimWorld(targets());
  w.clock.setWall('2026-01-01T00:00:00Z');
  w.api.now = () => w.clock.now();
  w.api.deliver = (kind, send) => {
    if (slow.some((each) => kind.endsWith(`/${each}`))) setImmediate(send);
    else queueMicrotask(send);
  };
  try {
    await w.have(namespace('test-ns'), namespace('offshoot-system'));
    await w.settle();
    for (const [i, at] of order.entries()) {
      await w.have(objects[at]!);
      if (pauses[i]) await w.settle();
    }
    await w.settle();
    for (let tries = 0; tries < 3; tries++) {
      await w.clock.advance(10_000);
      await w.settle();
    }
    return withoutChance(w.api.state());
  } finally {
    await w.stop();
  }
}

/** Leaves out ids, digests of ids, what hangs on them, and moments. An empty list and none are the same. */
function withoutChance(state: unknown): unknown {
  const text = JSON.stringify(state)
    .replaceAll(',"status":{"conditions":[]}', '')
    .replaceAll(/uid-\d+/g, 'ID')
    .replaceAll(/-[0-9a-f]{5}(?![0-9a-z])/g, '-ID')
    .replaceAll(/-ID-[a-z]{0,3}(?=[-"/])/g, '-ID')
    .replaceAll(/"(kubeconfig|offshoot\.dev\/token-digest|[^"]*tier-hash)":"[^"]*"/g, '"$1":"*"')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME');
  const objects = Object.entries(JSON.parse(text) as Record<string, { kind: string }>);
  return Object.fromEntries(objects.filter(([, { kind }]) => kind !== 'Event').sort(([a], [b]) => (a < b ? -1 : 1)));
}

test.each(Object.entries(SETS))('%s', { timeout: 120_000 }, async (_what, objects) => {
  const places = objects.map((_object, i) => i);
  const inOrder = await endOf(objects, { order: places, pauses: [], slow: [] });
  const arrival = fc.record({
    order: fc.shuffledSubarray(places, { minLength: places.length }),
    pauses: fc.array(fc.boolean(), { minLength: places.length, maxLength: places.length }),
    slow: fc.subarray(KINDS),
  });
  await fc.assert(
    fc.asyncProperty(arrival, async (each) => {
      expect(await endOf(objects, each)).toEqual(inOrder);
    }),
    { numRuns: 30 },
  );
});

test('what is missing for good is told', async () => {
  const w = new ClaimWorld(targets());
  try {
    await w.have(environment('env', byClaim('none')));
    await w.settle();
    expect(w.get(Environment, 'env')?.status).toBeUndefined();
    await w.clock.advance(3000);
    await w.settle();
    expect(w.get(Environment, 'env')?.status?.conditions?.[1]).toMatchObject({
      type: 'Reconciled',
      reason: 'DeploymentTargetClaimNotFound',
    });
  } finally {
    await w.stop();
  }
});
