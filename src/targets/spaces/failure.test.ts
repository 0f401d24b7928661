// Writes that the server refuses are reported on space requests and spaces, with contract messages, and passed on to
// claims.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { running } from '../../../test/support/running-claims.ts';
import { Space, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import { ApiError } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { TOOLCHAIN_FINALIZER } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';

const SPACES = ['space-requests', 'spaces'];

const request: SpaceRequest = {
  apiVersion: 'toolchain.dev.openshift.com/v1alpha1',
  kind: 'SpaceRequest',
  metadata: { name: 'sr', namespace: 'test-ns' },
  spec: { tierName: 'appstudio-env' },
};
const home: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'test-ns' } };

function readyOf(object: KubeObject | undefined): string {
  const { status } = (object ?? {}) as { status?: Space['status'] };
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined ? '' : `${ready.status} ${ready.reason}: ${ready.message}`;
}
const sr = (w: ClaimWorld) => w.get(SpaceRequest, 'sr');
const space = (w: ClaimWorld) => [...w.api.all(Space).values()][0];

interface Refused {
  readonly verb: string;
  readonly kind: string;
  readonly subresource?: string;
}

/** Refuses one kind of write, and settles. */
async function refusing(w: ClaimWorld, refused: Refused): Promise<ClaimWorld> {
  w.api.intercept = ({ verb, kind, subresource }) => {
    if (verb === refused.verb && kind === refused.kind && subresource === refused.subresource) {
      throw new ApiError('mock error', { code: 403, reason: 'Forbidden' });
    }
  };
  return w.settle();
}

/** Accepts all writes again, waits for the retries, and settles. */
async function accepting(w: ClaimWorld): Promise<ClaimWorld> {
  w.api.intercept = () => {};
  await w.clock.advance(120_000);
  return w.settle();
}

describe('a request', () => {
  test.each<[string, Refused, string]>([
    ['its finalizer', { verb: 'patch', kind: 'SpaceRequest' }, 'error while adding finalizer'],
    ['its space', { verb: 'create', kind: 'Space' }, 'unable to create subSpace'],
    ['its Secret', { verb: 'apply', kind: 'Secret' }, 'error while creating secret'],
    ['its token', { verb: 'token', kind: 'ServiceAccount' }, 'error while creating secret'],
  ])('reports a refused write of %s, and continues once it is accepted', async (_what, refused, words) => {
    const w = await running({}, SPACES).have(home, request);
    await refusing(w, refused);
    expect(readyOf(sr(w))).toBe(`False UnableToProvision: ${words}: mock error`);
    await accepting(w);
    expect(readyOf(sr(w))).toBe('True Provisioned: ');
    expect(w.api.all(Secret).size).toBe(1);
    expect(sr(w)?.status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
  });

  test('reports a refused change of its space', async () => {
    const w = await running({}, SPACES).have(home, request);
    await w.settle();
    await w.patch(SpaceRequest, 'sr', { spec: { targetClusterRoles: ['big'] } });
    await refusing(w, { verb: 'patch', kind: 'Space' });
    expect(readyOf(sr(w))).toBe(
      'False UnableToProvision: unable to update tiername and targetclusterroles: mock error',
    );
  });

  test('keeps its last status while status writes are refused', async () => {
    const w = await running({}, SPACES).have(home, request);
    await refusing(w, { verb: 'patch', kind: 'SpaceRequest', subresource: 'status' });
    expect([readyOf(sr(w)), w.api.all(Space).size]).toEqual(['', 1]);
    await accepting(w);
    expect(readyOf(sr(w))).toBe('True Provisioned: ');
  });

  test.each<[string, Refused, string]>([
    ['its space', { verb: 'delete', kind: 'Space' }, 'unable to delete subspace'],
    ['its finalizer', { verb: 'patch', kind: 'SpaceRequest' }, 'failed to remove finalizer'],
  ])('that is being deleted reports a refused write of %s', async (_what, refused, words) => {
    const w = await running({}, SPACES).have(home, request);
    await w.settle();
    await w.delete(SpaceRequest, 'sr');
    await refusing(w, refused);
    expect(readyOf(sr(w))).toBe(`False UnableToTerminate: ${words}: mock error`);
    await accepting(w);
    expect([sr(w), w.api.all(Namespace).size]).toEqual([undefined, 1]);
  });
});

describe('a space', () => {
  test('reports an object that cannot be created, and so do its request and its claim', async () => {
    const names = [...SPACES, 'binder', 'devsandbox-request'];
    const w = await running({}, names).have(home, targetClass('Delete'), claim());
    await refusing(w, { verb: 'apply', kind: 'LimitRange' });
    const words = /own LimitRange offshoot-.*-env\/resource-limits: mock error$/;
    expect(readyOf(space(w))).toMatch(/^False UnableToCreateNSTemplateSet: /);
    const [request] = w.api.all(SpaceRequest).values();
    for (const each of [space(w), request]) expect(readyOf(each)).toMatch(words);
    const dtc = w.get(DeploymentTargetClaim, 'test-dtc');
    expect(errorOf(dtc)).toMatch(words);
    expect(dtc?.status?.conditions?.find(({ type }) => type === 'Provisioned')).toMatchObject({
      status: 'False',
      reason: 'UnableToCreateNSTemplateSet',
    });
    await accepting(w);
    expect([readyOf(space(w)), errorOf(w.get(DeploymentTargetClaim, 'test-dtc'))]).toEqual(['True Provisioned: ', '']);
  });

  test('reports an object that cannot be updated', async () => {
    const w = await running({}, SPACES).have(home, request);
    await w.settle();
    const name = w.api
      .all(Namespace)
      .keys()
      .find((each) => each !== 'test-ns');
    await w.patch(Namespace, name!, { metadata: { labels: { 'toolchain.dev.openshift.com/tier': 'other' } } });
    await refusing(w, { verb: 'apply', kind: 'Namespace' });
    expect(readyOf(space(w))).toMatch(/^False UnableToUpdateNSTemplateSet: own Namespace /);
  });

  test('that is being deleted reports an object that cannot be deleted', async () => {
    const w = await running({}, SPACES).have(home, request);
    await w.settle();
    await w.delete(SpaceRequest, 'sr');
    await refusing(w, { verb: 'delete', kind: 'Namespace' });
    expect(readyOf(space(w))).toMatch(/^False UnableToTerminate: remove Namespace .*: mock error$/);
    expect(space(w)?.metadata.finalizers).toEqual([TOOLCHAIN_FINALIZER]);
  });
});
