import { expect, test } from 'vitest';
import { readerOf } from '../../api/testing/reader.ts';
import {
  boundClaim,
  claim,
  condition,
  namespaces,
  request,
  sandboxClass,
  target,
  world,
} from '../testing/claim-world.ts';
import { claimDeletion, isDeletionReported } from './deletion.ts';
import { claimWorld } from './world.ts';

const { bound, made, place, all } = boundClaim();

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
  const found = { ...place, metadata: { name: 'place', uid: 'uid-of-place', annotations } };
  const read = readerOf([bound, ofClaim, sandboxClass('offshoot.dev/namespace'), found]);
  const labels = claimDeletion(read, claimWorld(read, bound)).removals.map(({ label }) => label);
  expect(labels.filter((label) => label.startsWith('Namespace'))).toEqual(expected);
});

const since = { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 };
const stalled = (observedGeneration: number) =>
  claim({}, 'Bound', [{ ...condition('Stalled', 'True', 'ApplyFailed', 'no'), observedGeneration }], since);
const unready = (observedGeneration: number) => {
  const status = {
    phase: 'Bound' as const,
    conditions: [{ ...condition('Ready', 'False', 'Failed'), observedGeneration }],
  };
  return { ...target('Bound', since), status };
};
const terminating = (metadata = {}) => [request('False', 'Terminating', 'waits', metadata)];
const conditions = [condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain')];
const terminatingNamespaces = namespaces({ phase: 'Terminating', conditions });

test.each([
  ['nobody says anything', world({ claim: claim({}, 'Bound', [], since) }), false],
  ['the claim stalled before', world({ claim: stalled(1) }), false],
  ['the claim has stalled since', world({ claim: stalled(2) }), true],
  ['its target is not ready since', world({ claim: bound, target: unready(2) }), true],
  ['its target was not ready before', world({ claim: bound, target: unready(1) }), false],
  ['its space request waits', world({ claim: bound, requests: terminating(since) }), true],
  ['another space request took the place of that', world({ claim: bound, requests: terminating() }), false],
  [
    'its namespace still has contents',
    world({ claim: bound, requests: [made], namespaces: terminatingNamespaces }),
    true,
  ],
  [
    'a namespace of somebody else still has contents',
    world({ claim: bound, namespaces: terminatingNamespaces }),
    false,
  ],
])('isDeletionReported knows whether somebody says why a claim still exists: %s', (_who, its, expected) => {
  expect(isDeletionReported(its)).toBe(expected);
});
