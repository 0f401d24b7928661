import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claimSteps } from './progress.ts';
import type { ClaimProgress } from './progress.ts';
import { verdictOf } from './state.ts';
import { claim, condition, namespaces, request, sandboxClass, target, world } from '../testing/claim-world.ts';

const shown = (of: ClaimProgress): string[] =>
  claimSteps(of).map(({ label, state, note }) => `${label}: ${state}: ${note}`);
const ofClass = sandboxClass();
const problem = [
  condition('ErrorOccurred', 'True', 'ErrorOccurred', 'no room'),
  condition('Provisioned', 'False', 'UnableToProvision', 'no room'),
];

describe('claimSteps of a sandbox class', () => {
  test.each<[string, Partial<ClaimProgress> & Pick<ClaimProgress, 'claim'>, string[]]>([
    [
      'no controller has seen the claim yet',
      { claim: claim({}) },
      [
        'Claim: waiting: waits for the controller',
        'Space request: waiting: waits for the provisioner',
        'Namespace: waiting: waits for the space request',
        'Target: waiting: waits for one that is free, or made for it',
        'Bound: waiting: waits for a target',
      ],
    ],
    [
      'a space is being provisioned',
      { claim: claim({}, 'Pending'), requests: [request('False', 'Provisioning')] },
      [
        'Claim: done: accepted',
        'Space request: working: Provisioning (SpaceRequest staging-1)',
        'Namespace: waiting: waits for the space request',
        'Target: waiting: waits for one that is free, or made for it',
        'Bound: waiting: waits for a target',
      ],
    ],
    [
      'no space can be provisioned',
      { claim: claim({}, 'Pending', problem), requests: [request('False', 'UnableToProvision', 'no room')] },
      [
        'Claim: failed: UnableToProvision: no room',
        'Space request: failed: UnableToProvision: no room (SpaceRequest staging-1)',
        'Namespace: waiting: waits for the space request',
        'Target: waiting: waits for one that is free, or made for it',
        'Bound: waiting: waits for a target',
      ],
    ],
    [
      'the target exists',
      { claim: claim({}, 'Pending'), requests: [request('True', 'Provisioned')], target: target('Available') },
      [
        'Claim: done: accepted',
        'Space request: done: ready (SpaceRequest staging-1)',
        'Namespace: done: made (Namespace place)',
        'Target: done: available (DeploymentTarget staging-dt)',
        'Bound: waiting: waits for the binder',
      ],
    ],
    [
      'a free target was found',
      { claim: claim({ targetName: 'staging-dt' }, 'Bound'), target: target('Bound') },
      [
        'Claim: done: accepted',
        'Space request: done: not needed',
        'Namespace: done: not needed',
        'Target: done: bound (DeploymentTarget staging-dt)',
        'Bound: done: to staging-dt',
      ],
    ],
  ])('shows the progress when %s', (_what, of, steps) => {
    expect(shown(world({ ofClass, ...of }))).toEqual(steps);
  });
});

test('claimSteps without a class waits only for a target', () => {
  const named = world({ claim: claim({ deploymentTargetClassName: '', targetName: 'theirs' }, 'Pending') });
  expect(shown(named)).toEqual([
    'Claim: done: accepted',
    'Target: waiting: waits for DeploymentTarget theirs',
    'Bound: waiting: waits for a target',
  ]);
});

test('claimSteps shows parts that depend on the class alone, so that lines never come and go', () => {
  const provisioners = ['appstudio.redhat.com/devsandbox', 'offshoot.dev/namespace', 'example.com/cloud', undefined];
  const maybe = <T>(value: T): fc.Arbitrary<T | undefined> => fc.constantFrom(value, undefined);
  const arbitrary = fc.record({
    claim: fc.constantFrom(undefined, 'Pending', 'Bound', 'Lost').map((phase) => claim({}, phase, problem)),
    target: fc.constantFrom(undefined, 'Pending', 'Available', 'Bound', 'Failed').map((phase) => target(phase)),
    request: maybe(request('True', 'Provisioned')),
    space: maybe(namespaces({ phase: 'Active' })),
  });
  fc.assert(
    fc.property(fc.constantFrom(...provisioners), arbitrary, (provisioner, given) => {
      const of = world({
        ...given,
        ofClass: provisioner === undefined ? undefined : sandboxClass(provisioner),
        requests: given.request === undefined ? [] : [given.request],
        namespaces: given.space ?? new Map(),
      });
      const labels = (each: ClaimProgress): string[] => claimSteps(each).map(({ label }) => label);
      expect(labels(of)).toEqual(labels(world({ claim: claim({}), ofClass: of.ofClass })));
    }),
  );
});

test.each([
  ['bound', claim({}, 'Bound'), { is: 'bound' }],
  [
    'bound, and without its Secret',
    claim({}, 'Bound', [condition('Ready', 'False', 'SecretNotFound')]),
    { is: 'open' },
  ],
  [
    'bound, and with credentials that have expired',
    claim({}, 'Bound', [condition('Ready', 'False', 'CredentialsExpired')]),
    { is: 'open' },
  ],
  [
    'bound, and without its namespace',
    claim({}, 'Bound', [condition('Ready', 'False', 'NamespaceNotFound', 'namespace place is gone')]),
    { is: 'stuck', reason: 'NamespaceNotFound: namespace place is gone' },
  ],
  [
    'bound, and without its space',
    claim({}, 'Bound', [condition('Ready', 'False', 'SpaceFailed', 'gone: delete the claim and create another')]),
    { is: 'stuck', reason: 'SpaceFailed: gone: delete the claim and create another' },
  ],
  ['bound, with a space that fails', claim({}, 'Bound', [condition('Ready', 'False', 'SpaceFailed')]), { is: 'bound' }],
  ['new', claim({}), { is: 'open' }],
  ['pending with a temporary problem', claim({}, 'Pending', problem), { is: 'open' }],
  [
    'pending with a permanent problem',
    claim({}, 'Pending', [condition('Provisioned', 'False', 'NameTooLong', 'use less')]),
    { is: 'stuck', reason: 'NameTooLong: use less' },
  ],
  ['lost', claim({}, 'Lost'), { is: 'stuck', reason: 'its target is gone' }],
  [
    'being deleted',
    claim({}, 'Bound', [], { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    { is: 'stuck', reason: 'it is being deleted' },
  ],
])('verdictOf says whether to wait for a claim that is %s', (_what, of, verdict) => {
  expect(verdictOf(of)).toEqual(verdict);
});
