import { describe, expect, test } from 'vitest';
import { claim, target } from '../../../test/support/claims.ts';
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { parseSelector } from '../../kube/index.ts';
import { bestMatch, conflict, mismatch } from './match.ts';
import { CLAIM_UID, PROVISIONED_BY, PROVISIONER, RECYCLED, REQUESTED_NAMESPACE } from '../names.ts';

const inPhase = (phase: string, spec: Partial<DeploymentTarget['spec']> = {}): DeploymentTarget => ({
  ...target('test-dt', spec),
  status: { phase },
});
const wrapped = (problem: string): string =>
  `DeploymentTarget test-dt does not match DeploymentTargetClaim test-dtc in namespace test-ns: ${problem}`;
const refused = (asked: string, held: string, problem: string): string =>
  `cannot bind DeploymentTargetClaim test-dtc with target "${asked}" to DeploymentTarget test-dt with claim ref "${held}": ${problem}`;

const TAKEN = 'DeploymentTarget has a claimRef to another DeploymentTargetClaim';
const ELSEWHERE = 'DeploymentTargetClaim targets a DeploymentTarget that is already claimed';

describe('mismatch', () => {
  const uid = (uid: string): DeploymentTargetClaim => claim('test-dtc', {}, { uid });
  const lockedBy = (uid: string): DeploymentTarget => ({
    ...target('test-dt', { claimRef: 'test-dtc' }, { annotations: { [CLAIM_UID]: uid } }),
    status: { phase: 'Bound' },
  });
  const empty = { defaultNamespace: '', apiURL: '', clusterCredentialsSecret: '' };
  const cases: [string, DeploymentTargetClaim, DeploymentTarget, string | undefined][] = [
    ['reserved and available', claim(), inPhase('Available', { claimRef: 'test-dtc' }), undefined],
    ['free, without a phase', claim(), target(), undefined],
    [
      'another class',
      claim('test-dtc', { deploymentTargetClassName: 'x' }),
      target(),
      wrapped('deploymentTargetClassName does not match'),
    ],
    ['bound', claim(), inPhase('Bound'), wrapped('DeploymentTarget is not in Available phase')],
    ['bound to this very claim', uid('1'), lockedBy('1'), undefined],
    [
      'bound to an earlier claim of the same name',
      uid('2'),
      lockedBy('1'),
      wrapped(
        "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field",
      ),
    ],
    ['released', claim(), inPhase('Released'), wrapped('DeploymentTarget is not in Available phase')],
    [
      'no credentials',
      claim(),
      target('test-dt', { kubernetesCredentials: empty }),
      wrapped('DeploymentTarget does not have cluster credentials'),
    ],
    [
      'reserved for a claim that names another target',
      claim('test-dtc', { targetName: 'different-dt' }),
      inPhase('Available', { claimRef: 'test-dtc' }),
      refused('different-dt', 'test-dtc', ELSEWHERE),
    ],
    [
      'reserved for another claim',
      claim(),
      target('test-dt', { claimRef: 'x' }),
      wrapped(
        "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field",
      ),
    ],
    ['reserved by an object', claim(), target('test-dt', { claimRef: { name: 'test-dtc' } }), undefined],
    [
      'bound to an earlier claim of the same name',
      claim('test-dtc', {}, { uid: 'new' }),
      target('test-dt', { claimRef: 'test-dtc' }, { annotations: { [CLAIM_UID]: 'old' } }),
      wrapped(
        "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field",
      ),
    ],
    [
      'both without a class',
      claim('test-dtc', { deploymentTargetClassName: '' }),
      target('test-dt', { deploymentTargetClassName: '' }),
      undefined,
    ],
  ];
  test.each(cases)('says whether a claim may have a target: %s', (_what, ofClaim, ofTarget, problem) => {
    expect(mismatch(ofClaim, ofTarget)).toBe(problem);
  });
});

describe('conflict', () => {
  const cases: [string, string, string, string | undefined][] = [
    ['another claim holds the target', 'test-dt', 'other', refused('test-dt', 'other', TAKEN)],
    ['another claim holds the target, and this claim names none', '', 'other', refused('', 'other', TAKEN)],
    ['the claim names another target', 'other-dt', 'test-dtc', refused('other-dt', 'test-dtc', ELSEWHERE)],
    ['the claim names another target, and this target is free', 'other-dt', '', refused('other-dt', '', ELSEWHERE)],
    ['neither names anything', '', '', undefined],
    ['each names another', 'other-dt', 'other', undefined],
    ['each names the other', 'test-dt', 'test-dtc', undefined],
  ];
  test.each(cases)('finds contradicting references: %s', (_what, targetName, claimRef, problem) => {
    expect(conflict(claim('test-dtc', { targetName }), target('test-dt', { claimRef }))).toBe(problem);
  });
});

const ANY = { selector: parseSelector(''), allowStaticMatch: true };

describe('bestMatch', () => {
  test('prefers a reserved target, then the oldest, then the first by name', () => {
    const at = (time: string) => ({ creationTimestamp: `2026-01-01T00:00:0${time}Z` });
    const some = [target('c', {}, at('2')), target('b', {}, at('1')), target('a', {}, at('1'))];
    expect(bestMatch(claim(), some, ANY)?.metadata.name).toBe('a');
    expect(bestMatch(claim(), [...some, target('z', { claimRef: 'test-dtc' }, at('9'))], ANY)?.metadata.name).toBe('z');
  });

  test('ignores a target that is being deleted', () => {
    expect(bestMatch(claim(), [target('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })], ANY)).toBeUndefined();
  });

  test('considers only the target made for a claim that is marked for provisioning', () => {
    const marked = claim('test-dtc', {}, { annotations: { [PROVISIONER]: 'x' } });
    expect(bestMatch(marked, [target('free')], ANY)).toBeUndefined();
    expect(bestMatch(marked, [target('free'), target('made', { claimRef: 'test-dtc' })], ANY)?.metadata.name).toBe(
      'made',
    );
  });

  const at = (time: string, more: object = {}) => ({ creationTimestamp: `2026-01-01T00:00:0${time}Z`, ...more });
  const best = (of: DeploymentTargetClaim, some: DeploymentTarget[], choice = ANY) =>
    bestMatch(of, some, choice)?.metadata.name;

  test('prefers the requested namespace over anything but a reservation', () => {
    const named = (name: string, defaultNamespace: string, time: string): DeploymentTarget =>
      target(name, { kubernetesCredentials: { ...target().spec.kubernetesCredentials, defaultNamespace } }, at(time));
    const wish = claim('test-dtc', {}, { annotations: { [REQUESTED_NAMESPACE]: 'staging' } });
    const some = [named('other', 'prod', '1'), named('near', 'jane-staging', '2'), named('exact', 'staging', '3')];
    expect(best(wish, some)).toBe('exact');
    expect(best(wish, some.slice(0, 2))).toBe('near');
    expect(best(wish, some.slice(0, 1))).toBeUndefined();
  });

  test('prefers the target with the fewest other labels when the claim has a selector', () => {
    const choice = { selector: parseSelector('tier=web'), allowStaticMatch: true };
    const some = [
      target('many', {}, at('1', { labels: { tier: 'web', team: 'a' } })),
      target('few', {}, at('2', { labels: { tier: 'web' } })),
      target('none', {}, at('0')),
    ];
    expect(best(claim(), some, choice)).toBe('few');
    expect(best(claim(), some)).toBe('none');
  });

  test('prefers targets created by hand, then provisioned ones, then recycled ones', () => {
    const recycled = target('c', {}, at('1', { annotations: { [RECYCLED]: 'true' } }));
    const provisioned = target('b', {}, at('2', { annotations: { [PROVISIONED_BY]: 'x' } }));
    const brought = target('a', {}, at('3'));
    expect(best(claim(), [recycled, provisioned, brought])).toBe('a');
    expect(best(claim(), [recycled, provisioned])).toBe('b');
    expect(best(claim(), [recycled])).toBe('c');
  });

  test('does not depend on the order of the list', () => {
    const some = ['c', 'a', 'b'].map((name) => target(name, {}, at('1')));
    expect([best(claim(), some), best(claim(), some.toReversed())]).toEqual(['a', 'a']);
  });
});
