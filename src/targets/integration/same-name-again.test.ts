// A claim is made again under the name of one whose target was kept.
import { expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { conditionOf, dt, dtc, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { MAKE_AVAILABLE, REQUESTED_NAMESPACE, SELECTOR } from '../names.ts';
import { Namespace } from '../objects.ts';

const KEPT = 'test-dtc-dt';
const again = (spec = {}, meta = {}) => claim('test-dtc', { deploymentTargetClassName: 'room', ...spec }, meta);
const told = (w: ClaimWorld) => conditionOf(w, 'Provisioned')?.message;
const makeAvailable = (w: ClaimWorld) =>
  w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });

async function released(parameters = {}): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces().have(
    targetClass('Retain', 'room', 'offshoot.dev/namespace', parameters),
    targetClass('Retain', 'other', 'offshoot.dev/namespace'),
    again(),
  );
  await w.settle();
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dtc(w), dt(w, KEPT)?.status?.phase]).toEqual([undefined, 'Released']);
  return w;
}

test.each([
  ['', {}],
  [', also where claims take nothing that somebody had', { allowStaticMatch: false }],
])('it says what to do, and that is enough%s', async (_where, parameters) => {
  const w = await released(parameters);
  const { uid } = dt(w, KEPT)!.metadata;
  await w.have(again());
  await w.settle();
  expect([dtc(w)?.status?.phase, conditionOf(w, 'Provisioned')?.reason]).toEqual(['Pending', 'TargetNameTaken']);
  expect(told(w)).toContain(`kubectl annotate dt ${KEPT} -n test-ns ${MAKE_AVAILABLE}=true`);
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

test('so is having the target refer to it first', async () => {
  const w = await released();
  const { uid } = dt(w, KEPT)!.metadata;
  await w.have(again());
  await w.patch(DeploymentTarget, KEPT, { spec: { claimRef: 'test-dtc' } });
  await makeAvailable(w);
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w, KEPT)?.metadata.uid]).toEqual(['Bound', uid]);
});

test.each([
  ['is of another class', { deploymentTargetClassName: 'other' }, {}],
  ['asks for another name', {}, { [REQUESTED_NAMESPACE]: 'elsewhere' }],
  ['asks for other labels', {}, { [SELECTOR]: 'stage=prod' }],
])(
  'what would not be enough is not said: a claim that %s can have another target',
  async (_what, spec, annotations) => {
    const w = await released();
    await w.have(again(spec, { annotations }));
    await w.settle();
    expect(told(w)).toMatch(/to get another one, kubectl delete dt test-dtc-dt -n test-ns$/);
    expect(told(w)).not.toContain(MAKE_AVAILABLE);
    await w.delete(DeploymentTarget, KEPT);
    await w.settle();
    expect([dtc(w)?.status?.phase, dtc(w)?.spec.targetName]).toEqual(['Bound', KEPT]);
  },
);

test('a target that another claim has by now is named, with that claim', async () => {
  const w = await released();
  await w.have(claim('next', { deploymentTargetClassName: 'room', targetName: KEPT }));
  await makeAvailable(w);
  await w.settle();
  expect(dt(w, KEPT)?.status?.phase).toBe('Bound');
  await w.have(again());
  await w.settle();
  expect(told(w)).toContain('it is bound to next; use another name for the claim');
});

test("a target that a person made is still nobody's but for whom it is meant", async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'room', 'offshoot.dev/namespace'));
  await w.have(again());
  w.api.intercept = ({ verb, kind }) => {
    // Nobody has made the claim's own yet.
    if (verb === 'create' && kind === 'Namespace') throw new Error('not now');
  };
  await w.settle();
  await w.have(target(KEPT, { deploymentTargetClassName: 'room' }));
  await w.settle();
  expect([dtc(w)?.status?.phase, told(w)]).toEqual([
    'Pending',
    expect.stringContaining('set its claimRef to the claim'),
  ]);
});
