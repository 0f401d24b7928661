// The end state does not depend on the order in which objects are created and their watch events arrive.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { claim, ClaimWorld, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import { Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { Secret } from '../objects.ts';

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

/** Objects that are created together, by a pipeline or `kubectl apply` of a folder. */
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
/** A request that names no class and has no claim is deleted if all classes say so for a few seconds. */
const SETS_SOON: Readonly<Record<string, readonly KubeObject[]>> = {
  'a space request of somebody else, with a class that retains it': [
    targetClass('Delete', 'gone'),
    targetClass('Retain', 'kept'),
    spaceRequest('theirs', { 'appstudio.openshift.io/dtc': 'another' }),
  ],
};

const KINDS = ['environments', 'secrets', 'deploymenttargetclaims', 'deploymenttargets', 'deploymenttargetclasses'];

interface Arrival {
  /** The order in which the objects are created. */
  readonly order: readonly number[];
  /** How long it takes until the next object is created: the controllers settle first; undefined if they do not. */
  readonly pauses: readonly (number | undefined)[];
  /** Kinds whose watch events arrive late. */
  readonly slow: readonly string[];
}

/** The end state, without generated values. */
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
      const pauseMs = pauses[i];
      if (pauseMs !== undefined) await pass(w, pauseMs);
    }
    for (let minutes = 0; minutes < 10; minutes++) await pass(w, 60_000);
    return withoutGenerated(w.api.state());
  } finally {
    await w.stop();
  }
}

/** Lets the controllers settle, before and after this time. */
async function pass(w: ClaimWorld, ms: number): Promise<void> {
  await w.settle();
  await w.clock.advance(ms);
  await w.settle();
}

/** Replaces uids, digests and times. No conditions and an empty list are the same. */
function withoutGenerated(state: unknown): unknown {
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

const SOON = 'within seconds';
/** Missing objects are reported after three seconds, so objects arrive before and after that. */
const PAUSES: Readonly<Record<string, readonly (number | undefined)[]>> = {
  [SOON]: [undefined, 0, 1000],
  'minutes apart': [10_000, 200_000],
};
const cases = Object.entries({ ...SETS, ...SETS_SOON }).flatMap(([what, objects]) =>
  Object.entries(PAUSES)
    .filter(([when]) => when === SOON || what in SETS)
    .map(([when, pauses]) => [what, when, objects, pauses] as const),
);

test.each(cases)(
  '%s reaches the same end state in any order, %s',
  { timeout: 120_000 },
  async (_what, _when, objects, pauses) => {
    const places = objects.map((_object, i) => i);
    const inOrder = await endOf(objects, { order: places, pauses: [], slow: [] });
    const arrival = fc.record({
      order: fc.shuffledSubarray(places, { minLength: places.length }),
      pauses: fc.array(fc.constantFrom(...pauses), { minLength: places.length, maxLength: places.length }),
      slow: fc.subarray(KINDS),
    });
    await fc.assert(
      fc.asyncProperty(arrival, async (each) => {
        expect(await endOf(objects, each)).toEqual(inOrder);
      }),
      { numRuns: 20 },
    );
  },
);

test('an environment reports a claim that does not appear in time', async () => {
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

test('an environment reports a solved problem as resolved for five minutes, anew if it comes back', async () => {
  const w = new ClaimWorld(targets());
  const reasons = () => w.get(Environment, 'direct')?.status?.conditions?.map(({ reason }) => reason);
  const failed = ['ErrorOccurred', 'SecretNotFound'];
  const resolved = ['ErrorOccurredResolved', 'SecretNotFoundResolved'];
  try {
    await w.have(environment('direct', { unstableConfigurationFields: { kubernetesCredentials } }));
    await pass(w, 3000);
    expect(reasons()).toEqual(failed);
    await w.have(secret('key'));
    await pass(w, 290_000);
    expect(reasons()).toEqual(resolved);
    await w.delete(Secret, 'key');
    await pass(w, 3000);
    expect(reasons()).toEqual(failed);
    await w.have(secret('key'));
    await pass(w, 290_000);
    expect(reasons()).toEqual(resolved);
    await pass(w, 10_000);
    expect(reasons()).toEqual([]);
    const { length } = w.api.writes;
    await pass(w, 600_000);
    expect(w.api.writes.slice(length)).toEqual([]);
  } finally {
    await w.stop();
  }
});
