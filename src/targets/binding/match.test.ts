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

describe('whether a claim may have a target', () => {
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
      'bound to an earlier claim of the name',
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
      'reserved for a claim that wants another',
      claim('test-dtc', { targetName: 'different-dt' }),
      inPhase('Available', { claimRef: 'test-dtc' }),
      refused('different-dt', 'test-dtc', ELSEWHERE),
    ],
    [
      'reserved for another',
      claim(),
      target('test-dt', { claimRef: 'x' }),
      wrapped(
        "DeploymentTarget already references another DeploymentTargetClaim via DeploymentTarget's .spec.claimRef field",
      ),
    ],
    ['reserved by an object', claim(), target('test-dt', { claimRef: { name: 'test-dtc' } }), undefined],
    [
      'bound to an earlier claim of the name',
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
  test.each(cases)('%s', (_what, ofClaim, ofTarget, problem) => {
    expect(mismatch(ofClaim, ofTarget)).toBe(problem);
  });
});

describe('references that stand against each other', () => {
  const cases: [string, string, string, string | undefined][] = [
    ['the target is held by another', 'test-dt', 'other', refused('test-dt', 'other', TAKEN)],
    ['the same, and the claim names none', '', 'other', refused('', 'other', TAKEN)],
    ['the claim wants another', 'other-dt', 'test-dtc', refused('other-dt', 'test-dtc', ELSEWHERE)],
    ['the same, and the target is free', 'other-dt', '', refused('other-dt', '', ELSEWHERE)],
    ['neither names any', '', '', undefined],
    ['each has somebody else', 'other-dt', 'other', undefined],
    ['each names the other', 'test-dt', 'test-dtc', undefined],
  ];
  test.each(cases)('%s', (_what, targetName, claimRef, problem) => {
    expect(conflict(claim('test-dtc', { targetName }), target('test-dt', { claimRef }))).toBe(problem);
  });
});

const ANY = { selector: parseSelector(''), allowStaticMatch: true };

describe('the best match', () => {
  test('is the one that is reserved, then the oldest, then by name', () => {
    const at = (time: string) => ({ creationTimestamp: `2026-01-01T00:00:0${time}Z` });
    const some = [target('c', {}, at('2')), target('b', {}, at('1')), target('a', {}, at('1'))];
    expect(bestMatch(claim(), some, ANY)?.metadata.name).toBe('a');
    expect(bestMatch(claim(), [...some, target('z', { claimRef: 'test-dtc' }, at('9'))], ANY)?.metadata.name).toBe('z');
  });

  test('never one that is going', () => {
    expect(bestMatch(claim(), [target('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })], ANY)).toBeUndefined();
  });

  test('for a claim that is provisioned for, only what was made for it', () => {
    const marked = claim('test-dtc', {}, { annotations: { [PROVISIONER]: 'x' } });
    expect(bestMatch(marked, [target('free')], ANY)).toBeUndefined();
    expect(bestMatch(marked, [target('free'), target('made', { claimRef: 'test-dtc' })], ANY)?.metadata.name).toBe(
      'made',
    );
  });

  const at = (time: string, more: object = {}) => ({ creationTimestamp: `2026-01-01T00:00:0${time}Z`, ...more });
  const best = (of: DeploymentTargetClaim, some: DeploymentTarget[], choice = ANY) =>
    bestMatch(of, some, choice)?.metadata.name;

  test('goes by the name that was asked for before anything but a reservation', () => {
    const named = (name: string, defaultNamespace: string, time: string): DeploymentTarget =>
      target(name, { kubernetesCredentials: { ...target().spec.kubernetesCredentials, defaultNamespace } }, at(time));
    const wish = claim('test-dtc', {}, { annotations: { [REQUESTED_NAMESPACE]: 'staging' } });
    const some = [named('other', 'prod', '1'), named('near', 'jane-staging', '2'), named('exact', 'staging', '3')];
    expect(best(wish, some)).toBe('exact');
    expect(best(wish, some.slice(0, 2))).toBe('near');
    expect(best(wish, some.slice(0, 1))).toBeUndefined();
  });

  test('with a selector is the one with the fewest further labels', () => {
    const choice = { selector: parseSelector('tier=web'), allowStaticMatch: true };
    const some = [
      target('many', {}, at('1', { labels: { tier: 'web', team: 'a' } })),
      target('few', {}, at('2', { labels: { tier: 'web' } })),
      target('none', {}, at('0')),
    ];
    expect(best(claim(), some, choice)).toBe('few');
    expect(best(claim(), some)).toBe('none');
  });

  test('is what a person brought before what was provisioned before what somebody had', () => {
    const recycled = target('c', {}, at('1', { annotations: { [RECYCLED]: 'true' } }));
    const provisioned = target('b', {}, at('2', { annotations: { [PROVISIONED_BY]: 'x' } }));
    const brought = target('a', {}, at('3'));
    expect(best(claim(), [recycled, provisioned, brought])).toBe('a');
    expect(best(claim(), [recycled, provisioned])).toBe('b');
    expect(best(claim(), [recycled])).toBe('c');
  });

  test('is the same whatever the order in which they are listed', () => {
    const some = ['c', 'a', 'b'].map((name) => target(name, {}, at('1')));
    expect([best(claim(), some), best(claim(), some.toReversed())]).toEqual(['a', 'a']);
  });
});
