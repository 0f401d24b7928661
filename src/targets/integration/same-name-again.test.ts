// A claim is created again with the name of an earlier one whose target was retained.
import { expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { conditionOf, dt, dtc, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { MAKE_AVAILABLE, REQUESTED_NAMESPACE, SELECTOR } from '../names.ts';
import { Namespace } from '../objects.ts';

const KEPT = 'test-dtc-dt';
const recreated = (spec = {}, meta = {}) => claim('test-dtc', { deploymentTargetClassName: 'room', ...spec }, meta);
const messageOf = (w: ClaimWorld) => conditionOf(w, 'Provisioned')?.message;
const makeAvailable = (w: ClaimWorld) =>
  w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });

async function released(parameters = {}): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces().have(
    targetClass('Retain', 'room', 'offshoot.dev/namespace', parameters),
    targetClass('Retain', 'other', 'offshoot.dev/namespace'),
    recreated(),
  );
  await w.settle();
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dtc(w), dt(w, KEPT)?.status?.phase]).toEqual([undefined, 'Released']);
  return w;
}

test.each([
  ['', {}],
  [', even if the class forbids static matches', { allowStaticMatch: false }],
])('the new claim says how to get the old target, and gets it that way%s', async (_where, parameters) => {
  const w = await released(parameters);
  const { uid } = dt(w, KEPT)!.metadata;
  await w.have(recreated());
  await w.settle();
  expect([dtc(w)?.status?.phase, conditionOf(w, 'Provisioned')?.reason]).toEqual(['Pending', 'TargetNameTaken']);
  expect(messageOf(w)).toContain(`kubectl annotate dt ${KEPT} -n test-ns ${MAKE_AVAILABLE}=true`);
  await makeAvailable(w);
  await w.settle();
  expect([dtc(w)?.status?.phase, dtc(w)?.spec.targetName, dt(w, KEPT)?.status?.phase]).toEqual([
    'Bound',
    KEPT,
    'Bound',
  ]);
  expect([conditionOf(w, 'Ready')?.status, dt(w, KEPT)?.metadata.uid]).toEqual(['True', uid]);
  expect(w.api.all(Namespace).size).toBe(1);
});

test('the new claim gets the old target if that refers to it first', async () => {
  const w = await released();
  const { uid } = dt(w, KEPT)!.metadata;
  await w.have(recreated());
  await w.patch(DeploymentTarget, KEPT, { spec: { claimRef: 'test-dtc' } });
  await makeAvailable(w);
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w, KEPT)?.metadata.uid]).toEqual(['Bound', uid]);
});

test.each([
  ['is of another class', { deploymentTargetClassName: 'other' }, {}],
  ['asks for another name', {}, { [REQUESTED_NAMESPACE]: 'elsewhere' }],
  ['asks for other labels', {}, { [SELECTOR]: 'stage=prod' }],
])('a new claim that %s is only told how to get another target', async (_what, spec, annotations) => {
  const w = await released();
  await w.have(recreated(spec, { annotations }));
  await w.settle();
  expect(messageOf(w)).toMatch(/to get another one, kubectl delete dt test-dtc-dt -n test-ns$/);
  expect(messageOf(w)).not.toContain(MAKE_AVAILABLE);
  await w.delete(DeploymentTarget, KEPT);
  await w.settle();
  expect([dtc(w)?.status?.phase, dtc(w)?.spec.targetName]).toEqual(['Bound', KEPT]);
});

test('the new claim names the other claim that has the old target now', async () => {
  const w = await released();
  await w.have(claim('next', { deploymentTargetClassName: 'room', targetName: KEPT }));
  await makeAvailable(w);
  await w.settle();
  expect(dt(w, KEPT)?.status?.phase).toBe('Bound');
  await w.have(recreated());
  await w.settle();
  expect(messageOf(w)).toContain('it is bound to next; use another name for the claim');
});

test('the new claim says what is wrong with the space of the old target', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'room'), recreated());
  await w.have({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key', namespace: 'test-ns' } });
  await w.settle();
  const [{ metadata }] = w.api.all(SpaceRequest).values() as Iterable<SpaceRequest> as [SpaceRequest];
  const reports = (reason: string, message = '') =>
    w.status(SpaceRequest, metadata.name, {
      targetClusterURL: 'https://api',
      namespaceAccess: [{ name: 'place', secretRef: 'key' }],
      conditions: [{ type: 'Ready', status: reason === 'Provisioned' ? 'True' : 'False', reason, message }],
    });
  await reports('Provisioned');
  await w.settle();
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  await makeAvailable(w);
  await w.settle();
  expect(dt(w, KEPT)?.status?.phase).toBe('Available');
  await reports('UnableToProvision', 'the cluster is full');
  await w.have(recreated());
  await w.settle();
  expect([dtc(w)?.status?.phase, messageOf(w)]).toEqual([
    'Pending',
    expect.stringContaining(`for this claim: SpaceRequest ${metadata.name}: the cluster is full`),
  ]);
  await reports('Provisioned');
  await w.settle();
  expect(dtc(w)?.status?.phase).toBe('Bound');
});

test('the new claim does not get a target that was created by hand and does not refer to it', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'room', 'offshoot.dev/namespace'));
  await w.have(recreated());
  w.api.intercept = ({ verb, kind }) => {
    // The claim's own namespace is not created yet.
    if (verb === 'create' && kind === 'Namespace') throw new Error('not now');
  };
  await w.settle();
  await w.have(target(KEPT, { deploymentTargetClassName: 'room' }));
  await w.settle();
  expect([dtc(w)?.status?.phase, messageOf(w)]).toEqual([
    'Pending',
    expect.stringContaining('set its claimRef to the claim'),
  ]);
});
