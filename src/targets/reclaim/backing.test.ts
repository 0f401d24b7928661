// The namespace or space behind a target is gone: what is reported, what is replaced, and what is not recreated.
import { describe, expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { conditionOf, dt, dtc, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { DEVSANDBOX, MAKE_AVAILABLE, OF_CLAIM, OF_TARGET, PROVISIONED_BY } from '../names.ts';
import { MADE_BY, MADE_BY_LABEL, OF_NAMESPACE, TARGET_MADE } from '../namespaces/names.ts';
import { planSecret } from '../namespaces/secrets.ts';
import { Namespace, Secret } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import { planSpaceRequest } from '../spaces/space-request.ts';
import { conditionsIn, object, planIn, shown } from '../testing/planning.ts';

const TARGET = 'test-dtc-dt';
const KEPT = { apiURL: 'https://api', clusterCredentialsSecret: 'key', allowInsecureSkipTLSVerify: false };
const ready = (w: ClaimWorld) => conditionOf(w, 'Ready');
const targetReady = (w: ClaimWorld) => dt(w, TARGET)?.status?.conditions?.find(({ type }) => type === 'Ready');
const namespaceNames = (w: ClaimWorld) => [...w.api.all(Namespace).keys()];

async function boundToNamespace(policy: 'Delete' | 'Retain' = 'Delete', parameters = {}): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces().have(targetClass(policy, 'room', 'offshoot.dev/namespace', parameters));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'room' }));
  await w.settle();
  expect([dtc(w)?.status?.phase, ready(w)?.status]).toEqual(['Bound', 'True']);
  return w;
}

describe('the namespace of a bound claim', () => {
  test('is not recreated: the claim and its target report once that it is gone', async () => {
    const w = await boundToNamespace();
    await w.delete(Namespace, namespaceNames(w)[0]!);
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w, TARGET)?.status?.phase, namespaceNames(w)]).toEqual(['Bound', 'Bound', []]);
    const reason = 'NamespaceNotFound';
    expect([ready(w), targetReady(w)]).toMatchObject([
      { status: 'False', reason },
      { status: 'False', reason },
    ]);
    expect(ready(w)?.message).toMatch(/is gone, with all that was in it: delete the claim and create another$/);
    const { length } = w.api.writes;
    await w.stop();
    await w.settle();
    expect(w.api.writes.slice(length)).toEqual([]);
  });

  test('is reported as gone if a new one of the same name exists', async () => {
    const w = await boundToNamespace();
    const [name] = namespaceNames(w);
    await w.delete(Namespace, name!);
    await w.have({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: name! } });
    await w.settle();
    expect(ready(w)?.message).toContain(
      `namespace ${name} is not the one that was made for DeploymentTarget ${TARGET}`,
    );
  });

  test('is reported while it is being deleted', async () => {
    const w = await boundToNamespace();
    await w.patch(Namespace, namespaceNames(w)[0]!, { metadata: { finalizers: ['example.com/slow'] } });
    await w.delete(Namespace, namespaceNames(w)[0]!);
    await w.settle();
    expect(ready(w)).toMatchObject({ status: 'False', reason: 'NamespaceDeleting' });
  });
});

describe('the namespace that a target names, changed by somebody,', () => {
  const placeOf = (w: ClaimWorld) => dt(w, TARGET)!.spec.kubernetesCredentials.defaultNamespace;
  const moveTo = (w: ClaimWorld, defaultNamespace: string) =>
    w.patch(DeploymentTarget, TARGET, { spec: { kubernetesCredentials: { ...KEPT, defaultNamespace } } });
  const annotate = (w: ClaimWorld, name: string, annotations: Record<string, string>) =>
    w.patch(Namespace, name, { metadata: { annotations } });
  const madeBySomebody = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'playground' } };

  test.each(['playground', 'nonexistent'])('is set back to the one that was made for the target: %s', async (other) => {
    const w = await boundToNamespace();
    await w.have(madeBySomebody);
    const { spec } = dt(w, TARGET)!;
    await moveTo(w, other);
    await w.settle();
    expect(dt(w, TARGET)?.spec).toEqual(spec);
    expect([ready(w)?.status, targetReady(w)?.status, namespaceNames(w).length]).toEqual(['True', 'True', 2]);
  });

  test.each([
    ['is not kept up', { labels: { [MADE_BY_LABEL]: null } }],
    ['does not say for which target of that name it was made', { annotations: { [TARGET_MADE]: 'true' } }],
  ])('is reported with the right one if that %s', async (_how, metadata) => {
    const w = await boundToNamespace();
    const place = placeOf(w);
    await w.stop();
    await w.patch(Namespace, place, { metadata });
    await moveTo(w, 'playground');
    await w.settle();
    const message = `DeploymentTarget ${TARGET} is for namespace playground, but namespace ${place} says that it was made for it: set spec.kubernetesCredentials.defaultNamespace of the target back to ${place}`;
    const reported = { status: 'False', reason: 'NamespaceNotFound', message };
    expect([ready(w), targetReady(w)]).toMatchObject([reported, reported]);
    expect([placeOf(w), namespaceNames(w)]).toEqual(['playground', [place]]);
  });

  test('is not set back to a namespace that is being deleted, nor to one of an earlier target of that name', async () => {
    const w = await boundToNamespace();
    const place = placeOf(w);
    await w.patch(Namespace, place, { metadata: { finalizers: ['example.com/slow'] } });
    await w.delete(Namespace, place);
    await moveTo(w, 'playground');
    await w.settle();
    expect(ready(w)).toMatchObject({ reason: 'NamespaceDeleting', message: expect.stringContaining(place) });
    await w.have({ ...madeBySomebody, metadata: { name: 'earlier', labels: { [MADE_BY_LABEL]: MADE_BY } } });
    await annotate(w, 'earlier', { [OF_TARGET]: `test-ns/${TARGET}`, [TARGET_MADE]: 'uid-of-an-earlier-one' });
    await w.patch(Namespace, place, { metadata: { finalizers: null } });
    await w.settle();
    expect([placeOf(w), namespaceNames(w)]).toEqual(['playground', ['earlier']]);
  });

  test('does not keep the right one from being deleted with the target', async () => {
    const w = await boundToNamespace();
    await w.have(madeBySomebody);
    await w.stop();
    await moveTo(w, 'playground');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect([dtc(w), dt(w, TARGET), namespaceNames(w), w.api.all(Secret).size]).toEqual([
      undefined,
      undefined,
      ['playground'],
      0,
    ]);
  });
});

test('a target whose namespace is gone is not given to a claim, even if it is named or made available again', async () => {
  const w = await boundToNamespace('Retain');
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  await w.delete(Namespace, namespaceNames(w)[0]!);
  await w.have(claim('named', { deploymentTargetClassName: 'room', targetName: TARGET }));
  await w.settle();
  expect(targetReady(w)).toMatchObject({ reason: 'Released', message: expect.stringContaining('is gone') });
  await w.patch(DeploymentTarget, TARGET, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
  await w.settle();
  expect([dt(w, TARGET), dtc(w, 'named')?.status?.phase]).toEqual([undefined, 'Pending']);
});

test('a deleted namespace of the pool is replaced', async () => {
  const w = await boundToNamespace('Delete', { warm: 1 });
  const pooled = () => [...w.api.all(DeploymentTarget).values()].find(({ metadata }) => metadata.name !== TARGET);
  const first = pooled()!;
  const { kubernetesCredentials } = first['spec'] as DeploymentTarget['spec'];
  await w.delete(Namespace, kubernetesCredentials.defaultNamespace);
  await w.settle();
  const { uid } = pooled()!.metadata;
  expect([uid === first.metadata.uid, namespaceNames(w), w.api.all(Secret).size]).toEqual([
    false,
    [expect.any(String), expect.any(String)],
    2,
  ]);
});

test.each([
  [
    'names another namespace',
    (spec: object) => ({ spec: { ...spec, kubernetesCredentials: { ...KEPT, defaultNamespace: 'typo' } } }),
  ],
  ['was replaced without its annotations', (spec: object) => ({ spec, metadata: { annotations: null } })],
])('the namespace of a claim from the pool is kept when its target %s', async (_how, change) => {
  const w = await boundToNamespace('Delete', { warm: 1 });
  await w.have(claim('second', { deploymentTargetClassName: 'room' }));
  await w.settle();
  const name = dtc(w, 'second')!.spec.targetName!;
  const { spec } = dt(w, name)!;
  const place = spec.kubernetesCredentials.defaultNamespace;
  expect(w.get(Namespace, place)?.metadata.annotations?.[OF_CLAIM]).toBeUndefined();
  await w.patch(DeploymentTarget, name, change(spec));
  await w.settle();
  expect([namespaceNames(w).includes(place), w.get(Namespace, place)?.metadata.deletionTimestamp]).toEqual([
    true,
    undefined,
  ]);
  expect(w.get(Secret, spec.kubernetesCredentials.clusterCredentialsSecret)).toBeDefined();
});

test('a target of the pool that was used and made available again is kept when its class is deleted', async () => {
  const w = await boundToNamespace('Retain', { warm: 1 });
  await w.have(claim('second', { deploymentTargetClassName: 'room' }));
  await w.settle();
  const name = dtc(w, 'second')!.spec.targetName!;
  const place = dt(w, name)!.spec.kubernetesCredentials.defaultNamespace;
  await w.delete(DeploymentTargetClaim, 'second');
  await w.settle();
  await w.patch(DeploymentTarget, name, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
  await w.settle();
  expect(dt(w, name)?.status?.phase).toBe('Available');
  await w.delete(DeploymentTargetClass, 'room');
  await w.settle();
  expect([dt(w, name)?.status?.phase, namespaceNames(w).includes(place)]).toEqual(['Available', true]);
});

test('the credentials of a target that is not recognised are deleted once no claim has it', async () => {
  const w = await boundToNamespace('Retain');
  await w.patch(DeploymentTarget, TARGET, { metadata: { annotations: null } });
  await w.settle();
  expect(w.api.all(Secret).size).toBe(1);
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dt(w, TARGET)?.status?.phase, w.api.all(Secret).size, namespaceNames(w).length]).toEqual(['Released', 0, 1]);
});

describe('a target from a space', () => {
  const annotations = { [PROVISIONED_BY]: DEVSANDBOX };

  test('reports that its request is gone, and so does its claim', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete'), claim());
    await w.settle();
    const [request] = w.api.all(SpaceRequest).values();
    const { name } = request!.metadata;
    await w.status(SpaceRequest, name, {
      targetClusterURL: 'https://api',
      namespaceAccess: [{ name: 'place', secretRef: 'key' }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Provisioned' }],
    });
    await w.have({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key', namespace: request!.metadata.namespace! },
    });
    await w.settle();
    expect(ready(w)?.status).toBe('True');
    await w.delete(SpaceRequest, name);
    await w.settle();
    const gone = { status: 'False', reason: 'SpaceRequestNotFound' };
    expect([ready(w), targetReady(w)]).toMatchObject([gone, gone]);
    expect(w.api.all(SpaceRequest).size).toBe(0);
  });

  test('that was not made for a claim here is Available', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete'), target('theirs', {}, { annotations }));
    await w.settle();
    expect(dt(w, 'theirs')?.status?.phase).toBe('Available');
  });

  test('is never moved to an empty space: a request reports that its space is gone', () => {
    const team = object(Namespace, 'team');
    const status = { targetClusterURL: 'https://api', namespaceAccess: [{ name: 'place', secretRef: 'key' }] };
    const it = object(SpaceRequest, 'sr', { spec: { tierName: 'appstudio-env' }, status });
    const planned = planIn([it, team], (view) => planSpaceRequest(view, it, defaultSettings));
    expect([shown(planned), conditionsIn(planned)]).toEqual([
      [],
      ['Ready=False UnableToProvision: the subSpace was deleted, with its namespaces and all that was in them'],
    ]);
  });
});

describe('credentials', () => {
  const ofTargetAndNamespace = { [OF_TARGET]: 'team/dev-dt', [OF_NAMESPACE]: 'place' };
  const labels = { [MADE_BY_LABEL]: MADE_BY };
  const secret = object(Secret, 'key', {}, { labels, annotations: ofTargetAndNamespace });
  const place = object(Namespace, 'place', {}, { annotations: { [OF_TARGET]: 'team/dev-dt' } });
  const user = object(DeploymentTarget, 'dev-dt', {
    spec: { deploymentTargetClassName: '', kubernetesCredentials: { clusterCredentialsSecret: 'key' } },
  });
  const plan = (it: Secret, ...others: Parameters<typeof planIn>[0]) =>
    shown(planIn([it, ...others], (view) => planSecret(view, it)));

  test('for a namespace that is gone are deleted, unless a target uses them', () => {
    expect(plan(secret)).toEqual(['remove Secret team/key']);
    expect(plan(secret, object(Namespace, 'place'))).toEqual(['remove Secret team/key']);
    expect([plan(secret, place), plan(secret, user), plan(secret, user, place)]).toEqual([[], [], []]);
  });

  test('of others are kept', () => {
    expect(plan(object(Secret, 'key', {}, { annotations: ofTargetAndNamespace }))).toEqual([]);
    expect(plan(object(Secret, 'key', {}, { labels }))).toEqual([]);
  });
});
