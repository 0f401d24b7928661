import { expect, test } from 'vitest';
import { readerOf } from '../../api/testing/reader.ts';
import type { KubeObject } from '../../kube/objects.ts';
import {
  claim,
  condition,
  event,
  namespaces,
  request,
  sandboxClass,
  secrets,
  target,
  world,
} from '../testing/claim-world.ts';
import { claimDeletion, isDeletionReported } from './deletion.ts';
import { progressSources } from './progress-sources.ts';
import { claimWorld, targetWorld } from './world.ts';

const bound = claim({ targetName: 'staging-dt' }, 'Bound');
const made = request('True', 'Provisioned', '', {
  labels: { 'appstudio.openshift.io/dtc': 'staging', 'appstudio.openshift.io/dt': 'staging-dt' },
});
const [place] = [...namespaces({ phase: 'Active' }).values()];
const [access] = [...secrets({ kubeconfig: 'eA==' }).values()];
const all: readonly KubeObject[] = [
  bound,
  target('Bound'),
  made,
  sandboxClass(),
  place as KubeObject,
  access as KubeObject,
  event(bound, 'Normal', 'Bound', 'the claim is bound'),
];

test('claimWorld contains the target and what stands behind it, down to the Secret', () => {
  const world = claimWorld(readerOf(all), bound);
  expect([world.target?.metadata.name, world.ofClass?.metadata.name]).toEqual(['staging-dt', 'sandbox']);
  expect(world.requests).toEqual([made]);
  expect([[...world.namespaces.keys()], [...world.secrets.keys()]]).toEqual([['place'], ['access']]);
  expect(world.events.map(({ reason }) => reason)).toContain('Bound');
});

test('claimWorld marks objects that may not be read as hidden, not as missing', () => {
  const { namespaces: seen, target: none } = claimWorld(
    readerOf(all, ['Namespace place', 'DeploymentTarget team/staging-dt']),
    bound,
  );
  expect([seen.get('place'), none]).toEqual(['hidden', undefined]);
});

test('targetWorld contains the claim only if it is the one that the target is bound to', () => {
  const other = { ...bound, metadata: { ...bound.metadata, uid: 'another' } };
  const held = target('Bound', { annotations: { 'dt.appstudio.redhat.com/claim-uid': bound.metadata.uid! } });
  expect(targetWorld(readerOf([bound]), held).claim).toBe(bound);
  expect(targetWorld(readerOf([other]), held).claim).toBeUndefined();
});

test('claimDeletion lists what the class does not retain, the claim last', () => {
  const read = readerOf(all);
  const { removals, kept } = claimDeletion(read, claimWorld(read, bound));
  expect(removals.map(({ label }) => label)).toEqual([
    'Namespace place',
    'SpaceRequest team/staging-1',
    'Target team/staging-dt',
    'Claim team/staging',
  ]);
  expect(kept).toBeUndefined();
  const isDone = removals.at(-1)!.isDone;
  expect([isDone(bound), isDone({ ...bound, metadata: { ...bound.metadata, uid: 'new' } })]).toEqual([false, true]);
});

test('claimDeletion lists only the claim if the class retains targets', () => {
  const keeping = sandboxClass();
  const retained = { ...keeping, spec: { ...keeping.spec, reclaimPolicy: 'Retain' as const } };
  const read = readerOf(all.map((each) => (each.kind === keeping.kind ? retained : each)));
  const { removals, kept } = claimDeletion(read, claimWorld(read, bound));
  expect([removals.map(({ label }) => label), kept?.metadata.name]).toEqual([['Claim team/staging'], 'staging-dt']);
});

test.each([
  ['was made for the target', { 'offshoot.dev/target': 'team/staging-dt' }, 'staging', ['Namespace place']],
  ['was made for another target', { 'offshoot.dev/target': 'team/other-dt' }, 'staging', []],
  ['somebody else created under its name', {}, 'staging', []],
  ['is of a target of another claim', { 'offshoot.dev/target': 'team/staging-dt' }, 'other', []],
])('claimDeletion decides whether to wait for a namespace that %s', (_how, annotations, claimRef, expected) => {
  const provisioned = target('Bound', {
    annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': 'offshoot.dev/namespace' },
  });
  const ofClaim = { ...provisioned, spec: { ...provisioned.spec, claimRef } };
  const found = { ...(place as KubeObject), metadata: { name: 'place', uid: 'uid-of-place', annotations } };
  const read = readerOf([bound, ofClaim, sandboxClass('offshoot.dev/namespace'), found]);
  const labels = claimDeletion(read, claimWorld(read, bound)).removals.map(({ label }) => label);
  expect(labels.filter((label) => label.startsWith('Namespace'))).toEqual(expected);
});

test('progressSources follows targets and what the provisioner of the class makes', () => {
  const kinds = (provisioner?: string): string[] =>
    progressSources(bound, provisioner === undefined ? undefined : sandboxClass(provisioner)).map(
      ({ kind }) => kind.kind,
    );
  expect(kinds()).toEqual(['DeploymentTarget']);
  expect(kinds('appstudio.redhat.com/devsandbox')).toEqual(['DeploymentTarget', 'SpaceRequest']);
  expect(kinds('offshoot.dev/namespace')).toEqual(['DeploymentTarget', 'Namespace']);
  const [targets] = progressSources(bound, undefined);
  expect(targets!.seen([target('Available')])).toMatchObject({ target: { metadata: { name: 'staging-dt' } } });
});

const since = { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 };
const stalled = (observedGeneration: number) =>
  claim({}, 'Bound', [{ ...condition('Stalled', 'True', 'ApplyFailed', 'no'), observedGeneration }], since);
const terminating = (metadata = {}) => [request('False', 'Terminating', 'waits', metadata)];
const conditions = [condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain')];

test.each([
  ['nobody says anything', world({ claim: claim({}, 'Bound', [], since) }), false],
  ['the claim stalled before', world({ claim: stalled(1) }), false],
  ['the claim has stalled since', world({ claim: stalled(2) }), true],
  ['its space request waits', world({ claim: bound, requests: terminating(since) }), true],
  ['another space request took the place of that', world({ claim: bound, requests: terminating() }), false],
  [
    'its namespace still has contents',
    world({ claim: bound, namespaces: namespaces({ phase: 'Terminating', conditions }) }),
    true,
  ],
])('isDeletionReported knows whether somebody says why a claim still exists: %s', (_who, its, expected) => {
  expect(isDeletionReported(its)).toBe(expected);
});
