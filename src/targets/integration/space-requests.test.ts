// What people do to the SpaceRequest of a claim: deleting it, applying it again, and adding a second one. The target
// must never be moved to another, empty namespace.
import { expect, test } from 'vitest';
import { claim, spaceRequest, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { dt, dtc, running } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { targets } from '../index.ts';
import { CLAIM_LABEL, MADE_FROM, MAKE_AVAILABLE, OF_TARGET } from '../names.ts';
import { Secret } from '../objects.ts';

const ALL = targets().map(({ name }) => name);
/** With `-dt`, one character too long for a label. */
const LONG = 'x'.repeat(61);

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const requests = (w: ClaimWorld) =>
  [...w.api.all(SpaceRequest).keys()].map((key) => w.get(SpaceRequest, key.slice(key.indexOf('/') + 1))!);
const readiness = (w: ClaimWorld, name: string) =>
  [dtc(w, name), dt(w, `${name}-dt`)].map((each) => each?.status?.conditions?.find(({ type }) => type === 'Ready'));
const placeOf = (w: ClaimWorld, name: string) => dt(w, `${name}-dt`)?.spec.kubernetesCredentials.defaultNamespace;
const tokens = (w: ClaimWorld) => [...w.api.all(Secret).values()].map((secret) => JSON.stringify(secret['data']));

async function boundToSpace(policy: 'Delete' | 'Retain', name = 'test-dtc'): Promise<ClaimWorld> {
  const w = await running({}, ALL).have(namespace('test-ns'), namespace('offshoot-system'));
  await w.have(targetClass(policy), claim(name));
  await settleAll(w);
  expect(readiness(w, name)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  return w;
}

/** Spaces look again after a second. */
async function settleAll(w: ClaimWorld): Promise<void> {
  await w.settle();
  await w.clock.advance(2000);
  await w.settle();
}

const NOT_FOUND = { status: 'False', reason: 'SpaceRequestNotFound' };

test('a request that is deleted and applied again is another one, with an empty namespace', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  const [saved] = requests(w);
  await w.delete(SpaceRequest, saved!.metadata.name);
  await settleAll(w);
  const { name, labels, annotations } = saved!.metadata;
  await w.have({
    ...spaceRequest(name, labels!),
    metadata: { name, namespace: 'test-ns', labels: labels!, annotations: annotations! },
  });
  await settleAll(w);
  const [restored] = requests(w);
  const other = restored!.status!.namespaceAccess![0]!.name;
  expect([other === place, placeOf(w, 'test-dtc')]).toEqual([false, place]);
  const message = expect.stringContaining(
    `SpaceRequest ${name} is for namespace ${other}, but DeploymentTarget test-dtc-dt is for ${place}`,
  );
  expect(readiness(w, 'test-dtc')).toMatchObject([
    { ...NOT_FOUND, message },
    { ...NOT_FOUND, message },
  ]);
});

test('a request that is applied again does not look ready before it has a namespace', async () => {
  const w = await boundToSpace('Delete');
  const [saved] = requests(w);
  await w.delete(SpaceRequest, saved!.metadata.name);
  await settleAll(w);
  await w.stop();
  const withoutSpaces = w.with(targets({ spaceControllers: false }));
  await withoutSpaces.have(spaceRequest('again', saved!.metadata.labels!));
  await withoutSpaces.settle();
  expect(readiness(withoutSpaces, 'test-dtc')).toMatchObject([NOT_FOUND, NOT_FOUND]);
  await withoutSpaces.stop();
});

test('a second request for a claim does not get its target', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  await w.have(spaceRequest('second', { [CLAIM_LABEL]: 'test-dtc' }));
  await settleAll(w);
  expect(placeOf(w, 'test-dtc')).toBe(place);
  expect(readiness(w, 'test-dtc')).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

test('a target whose name does not fit into a label reports that its request is gone', async () => {
  const w = await boundToSpace('Delete', LONG);
  await w.delete(SpaceRequest, requests(w)[0]!.metadata.name);
  await settleAll(w);
  expect(readiness(w, LONG)).toMatchObject([NOT_FOUND, NOT_FOUND]);
});

test('a retained target whose name does not fit into a label has new credentials for its next claim', async () => {
  const w = await boundToSpace('Retain', LONG);
  const before = tokens(w);
  await w.delete(DeploymentTargetClaim, LONG);
  await settleAll(w);
  await w.have(claim(LONG));
  await w.patch(DeploymentTarget, `${LONG}-dt`, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
  await settleAll(w);
  expect(readiness(w, LONG)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  expect([tokens(w).length, tokens(w)[0] === before[0]]).toEqual([1, false]);
});

/** Requests of earlier versions did not name a target whose name does not fit into a label. */
async function unnameTarget(w: ClaimWorld): Promise<void> {
  await w.stop();
  const annotations = { [OF_TARGET]: null };
  await w.patch(SpaceRequest, requests(w)[0]!.metadata.name, { metadata: { annotations } });
}

async function deletedWithoutNamedTarget(policy: 'Delete' | 'Retain'): Promise<ClaimWorld> {
  const w = await boundToSpace(policy, LONG);
  await unnameTarget(w);
  await w.delete(DeploymentTargetClaim, LONG);
  return w;
}

test('a request of an earlier version that does not name its target is deleted with it', async () => {
  const w = await deletedWithoutNamedTarget('Delete');
  await settleAll(w);
  expect([w.api.all(DeploymentTarget).size, requests(w)]).toEqual([0, []]);
});

test('a request of an earlier version that does not name its target has new credentials once released', async () => {
  const w = await deletedWithoutNamedTarget('Retain');
  const before = tokens(w);
  await settleAll(w);
  expect([requests(w).length, tokens(w).length, tokens(w)[0] === before[0]]).toEqual([1, 1, false]);
});

test.each([
  [
    'of another tier',
    (w: ClaimWorld, name: string) => w.patch(SpaceRequest, name, { spec: { tierName: 'other' } }),
    / is of tier other, but .+ or the request of the target is gone$/,
  ],
  [
    'without a namespace',
    (w: ClaimWorld, name: string) => w.status(SpaceRequest, name, { namespaceAccess: null }),
    / has no namespace: somebody changed its status, or .+ was made from another one$/,
  ],
])('a claim does not say that its namespace is gone if its request is %s', async (_what, change, message) => {
  const w = await boundToSpace('Delete');
  await w.stop();
  const withoutSpaces = w.with(targets({ spaceControllers: false }));
  await change(withoutSpaces, requests(w)[0]!.metadata.name);
  await withoutSpaces.settle();
  const expected = { ...NOT_FOUND, message: expect.stringMatching(message) };
  expect(readiness(withoutSpaces, 'test-dtc')).toMatchObject([expected, expected]);
  await withoutSpaces.stop();
});

test('a target whose namespace somebody changed gets that of its request again', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  await w.patch(DeploymentTarget, 'test-dtc-dt', { spec: { kubernetesCredentials: { defaultNamespace: 'typo' } } });
  await settleAll(w);
  expect(placeOf(w, 'test-dtc')).toBe(place);
  expect(readiness(w, 'test-dtc')).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

test('a target of an earlier version whose namespace somebody changed gets that of its request again', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  await w.stop();
  await w.patch(DeploymentTarget, 'test-dtc-dt', { metadata: { annotations: { [MADE_FROM]: null } } });
  await settleAll(w);
  await w.patch(DeploymentTarget, 'test-dtc-dt', { spec: { kubernetesCredentials: { defaultNamespace: 'typo' } } });
  await settleAll(w);
  expect(placeOf(w, 'test-dtc')).toBe(place);
  expect(readiness(w, 'test-dtc')).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

test('a target is not moved when its request gets another namespace, and its claim says so', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  const { metadata, status } = requests(w)[0]!;
  await w.stop();
  const withoutSpaces = w.with(targets({ spaceControllers: false }));
  const namespaceAccess = [{ ...status!.namespaceAccess![0]!, name: 'other' }];
  await withoutSpaces.status(SpaceRequest, metadata.name, { namespaceAccess });
  await withoutSpaces.settle();
  expect(placeOf(withoutSpaces, 'test-dtc')).toBe(place);
  expect(readiness(withoutSpaces, 'test-dtc')).toMatchObject([NOT_FOUND, NOT_FOUND]);
  await withoutSpaces.stop();
});

test('a target whose namespace somebody changed gets its own again if its request has several', async () => {
  const w = await boundToSpace('Delete');
  const place = placeOf(w, 'test-dtc');
  const { metadata, status } = requests(w)[0]!;
  await w.stop();
  const withoutSpaces = w.with(targets({ spaceControllers: false }));
  const namespaceAccess = [{ name: 'a-first', secretRef: 'new' }, ...status!.namespaceAccess!];
  await withoutSpaces.status(SpaceRequest, metadata.name, { namespaceAccess });
  const kubernetesCredentials = { defaultNamespace: 'typo' };
  await withoutSpaces.patch(DeploymentTarget, 'test-dtc-dt', { spec: { kubernetesCredentials } });
  await withoutSpaces.settle();
  expect(placeOf(withoutSpaces, 'test-dtc')).toBe(place);
  await withoutSpaces.stop();
});

test.each(['a', 'z'])('a second request that names the target counts for nothing: %s', async (name) => {
  const w = await boundToSpace('Delete');
  const { labels } = requests(w)[0]!.metadata;
  await w.stop();
  const withoutSpaces = w.with(targets({ spaceControllers: false }));
  await withoutSpaces.have(spaceRequest(name, labels!));
  await withoutSpaces.settle();
  expect(readiness(withoutSpaces, 'test-dtc')).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  await withoutSpaces.stop();
});
