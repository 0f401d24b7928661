import { describe, expect, test } from 'vitest';
import { descriptionLines } from '../objects/describe.ts';
import { describeClaim, describeTarget } from '../../targets/describe/tree.ts';
import type { ClaimWorld } from '../../targets/describe/world.ts';
import { unpainted } from '../terminal/colour.ts';
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
} from '../../targets/testing/claim-world.ts';
import { problemsOf } from '../../api/description/tree.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const lines = (of: ClaimWorld): string => descriptionLines(describeClaim(of), [], unpainted, NOW).join('\n');
const problems = (of: ClaimWorld): string[] => problemsOf(describeClaim(of).tree);
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.test/hold'] };
const ready = { phase: 'Active' };
const kubeconfig = { kubeconfig: 'eA==' };

test('a bound claim shows every object down to the Secret, and its Events', () => {
  const bound = claim({ targetName: 'staging-dt', ttl: '2d' }, 'Bound', [], {
    annotations: { 'dt.appstudio.redhat.com/expires-at': '2026-01-03T00:00:00Z' },
  });
  const spaceRequest = request('True', 'Provisioned');
  const events = [
    event(spaceRequest, 'Normal', 'Provisioned', 'the space is provisioned'),
    event(bound, 'Normal', 'Bound', 'the claim is bound'),
  ];
  const all = world({
    claim: bound,
    ofClass: sandboxClass(),
    target: target('Bound'),
    requests: [spaceRequest],
    namespaces: namespaces(ready),
    secrets: secrets(kubeconfig),
    events,
  });
  expect(lines(all)).toBe(
    `
Claim team/staging  Bound  class sandbox, expires 2026-01-03T00:00:00Z
└─ Target team/staging-dt  Bound  namespace place at https://api.test
   └─ SpaceRequest team/staging-1  Provisioned  tier appstudio-env
      └─ Namespace place  Active
         └─ Secret team/access  present

Events
    60s  Provisioned  SpaceRequest staging-1: the space is provisioned
    60s  Bound  the claim is bound`.trimStart(),
  );
  expect(problems(all)).toEqual([]);
});

test('a target created by hand shows only its Secret', () => {
  const manual = world({
    claim: claim({ deploymentTargetClassName: '' }, 'Bound'),
    target: target('Bound'),
    secrets: secrets(kubeconfig),
  });
  expect(lines(manual)).toBe(
    `
Claim team/staging  Bound  no class
└─ Target team/staging-dt  Bound  namespace place at https://api.test
   └─ Secret team/access  present`.trimStart(),
  );
});

test('a namespace without a space request is shown below the target, with its Secret', () => {
  const annotations = { 'provisioner.appstudio.redhat.com/provisioned-by': 'offshoot.dev/namespace' };
  const local = world({
    claim: claim({}, 'Bound'),
    target: target('Bound', { annotations }),
    namespaces: namespaces(ready),
    secrets: secrets(kubeconfig),
  });
  expect(lines(local).split('\n').slice(2)).toEqual([
    '   └─ Namespace place  Active',
    '      └─ Secret team/access  present',
  ]);
  expect(problems({ ...local, namespaces: new Map() })).toEqual([
    'Namespace place: no namespace with this name exists',
  ]);
});

describe('a claim that is not ready shows the reason if', () => {
  const pending = claim({}, 'Pending');
  const failure = [
    condition('ErrorOccurred', 'True', 'ErrorOccurred', 'SpaceRequest staging-1: no room'),
    condition('Provisioned', 'False', 'UnableToProvision', 'SpaceRequest staging-1: no room'),
  ];
  const quota = [
    condition('ErrorOccurred', 'True', 'ErrorOccurred', '2 of 2 are taken'),
    condition('Provisioned', 'False', 'QuotaExceeded', '2 of 2 are taken'),
  ];
  const slow = [
    condition('ErrorOccurred', 'False', 'Success'),
    condition('Provisioned', 'False', 'Provisioning', 'SpaceRequest staging-1'),
  ];
  const noController =
    'no controller has looked at it yet: check that "offshoot run --controllers targets" runs for this cluster';
  const bound = { claim: claim({}, 'Bound'), target: target('Bound') };

  test.each<[what: string, of: ClaimWorld, why: string[]]>([
    ['no controller manages claims', world({ claim: claim({}) }), [`Claim team/staging: ${noController}`]],
    [
      'the provisioner of the class does not run',
      world({ claim: pending, ofClass: sandboxClass('example.com/cloud') }),
      ['Claim team/staging: waits for provisioner example.com/cloud'],
    ],
    [
      'the quota of the class is used up',
      world({ claim: claim({}, 'Pending', quota), ofClass: sandboxClass() }),
      ['Claim team/staging: QuotaExceeded: 2 of 2 are taken'],
    ],
    [
      'only an Event has the reason',
      world({ claim: pending, ofClass: sandboxClass(), events: [event(pending, 'Warning', 'Odd', 'who knows')] }),
      ['Claim team/staging: Odd: who knows'],
    ],
    [
      'the space request failed (shown once)',
      world({ claim: claim({}, 'Pending', failure), requests: [request('False', 'UnableToProvision', 'no room')] }),
      ['SpaceRequest team/staging-1: no room'],
    ],
    [
      'the space request is still in progress (no problem)',
      world({ claim: claim({}, 'Pending', slow), requests: [request('False', 'Provisioning')] }),
      [],
    ],
    [
      'the named target does not exist',
      world({ claim: claim({ targetName: 'theirs' }, 'Pending') }),
      ['Target team/theirs: no target with this name exists in namespace team: create it, or claim another'],
    ],
    [
      'no target is free, and none is provisioned',
      world({ claim: claim({ deploymentTargetClassName: '' }, 'Pending') }),
      ['Target none: no target without a class is free in namespace team: create one, or claim one of a class'],
    ],
    [
      'the target lacks its URL',
      world({ claim: pending, target: target('Pending', {}, { apiURL: '' }), secrets: secrets(kubeconfig) }),
      ['Target team/staging-dt: spec.kubernetesCredentials.apiURL is empty'],
    ],
    ['the Secret is missing', world(bound), ['Secret team/access: no Secret with this name exists']],
    [
      'the target has another class and is being deleted',
      world({
        claim: claim({}, 'Bound', [
          condition('ErrorOccurred', 'False', 'Success'),
          condition('Ready', 'False', 'TargetDeleting', 'DeploymentTarget staging-dt is being deleted'),
          condition('ClassMatches', 'False', 'ClassDiffers', 'another class'),
        ]),
        target: target('Bound'),
        secrets: secrets(kubeconfig),
      }),
      [
        'Claim team/staging: TargetDeleting: DeploymentTarget staging-dt is being deleted',
        'Claim team/staging: ClassDiffers: another class',
      ],
    ],
    [
      "the API server rejected a write (with the server's message)",
      world({
        claim: claim({}, 'Pending', [
          condition('ErrorOccurred', 'True', 'ErrorOccurred', 'unexpected internal error occurred in DTC controller'),
          condition('Stalled', 'True', 'ApplyFailed', 'edit DeploymentTarget team/x: no'),
        ]),
      }),
      ['Claim team/staging: ApplyFailed: edit DeploymentTarget team/x: no'],
    ],
    [
      'the class does not exist (with the reason of Ready)',
      world({
        claim: claim({}, 'Pending', [
          condition('ErrorOccurred', 'True', 'ErrorOccurred', 'no class sandbox'),
          condition('Ready', 'False', 'ClassNotFound', 'no class sandbox'),
        ]),
      }),
      ['Claim team/staging: ClassNotFound: no class sandbox'],
    ],
    [
      'the Secret has no kubeconfig',
      world({ ...bound, secrets: secrets({ token: 'eA==' }) }),
      ['Secret team/access: it has no key kubeconfig'],
    ],
    [
      'the target was lost',
      world({
        claim: claim({ targetName: 'gone' }, 'Lost', [
          condition('ErrorOccurred', 'True', 'ErrorOccurred', 'not found'),
        ]),
      }),
      [
        'Claim team/staging: not found',
        'Target team/gone: no target with this name exists in namespace team: create it, or claim another',
      ],
    ],
    [
      'the claim is being deleted',
      world({
        claim: claim({}, 'Bound', [], deleting),
        target: target('Failed', deleting),
        requests: [request('False', 'UnableToTerminate', 'the namespace stays', deleting)],
        secrets: secrets(kubeconfig),
      }),
      [
        'Claim team/staging: waits until target staging-dt is reclaimed',
        'Target team/staging-dt: waits until its space request is gone',
        'SpaceRequest team/staging-1: the namespace stays',
      ],
    ],
    [
      'the Secret is deleted before its target (no problem)',
      world({ claim: claim({}, 'Bound', [], deleting), target: target('Bound', deleting) }),
      [
        'Claim team/staging: waits until target staging-dt is reclaimed',
        'Target team/staging-dt: waits for the finalizers a.test/hold',
      ],
    ],
    [
      'the namespace is stuck in Terminating',
      world({
        ...bound,
        requests: [request('True', 'Provisioned')],
        secrets: secrets(kubeconfig),
        namespaces: namespaces({
          phase: 'Terminating',
          conditions: [condition('NamespaceContentRemaining', 'True', 'SomeResourcesRemain', 'pods has 1')],
        }),
      }),
      ['Namespace place: SomeResourcesRemain: pods has 1'],
    ],
  ])('%s', (_what, of, why) => {
    expect(problems(of)).toEqual(why);
  });
});

test('an object that the user may not read is shown as hidden, not missing', () => {
  const hidden = world({
    claim: claim({}, 'Bound'),
    target: target('Bound'),
    requests: [request('True', 'Provisioned')],
    namespaces: namespaces('hidden'),
    secrets: secrets('hidden'),
  });
  expect(problems(hidden)).toEqual([]);
  expect(lines(hidden).split('\n').slice(3)).toEqual([
    '      └─ Namespace place  hidden  not visible to you',
    '         └─ Secret team/access  hidden  not visible to you',
  ]);
  const elsewhere = lines({ ...hidden, namespaces: new Map() });
  expect(elsewhere).toContain('Namespace place  elsewhere  not in this cluster; look at https://api.test');
});

test('a target shows its claim, or the claim that it is reserved for', () => {
  const bound = world({ claim: claim({}, 'Bound'), secrets: secrets(kubeconfig) });
  const shown = (phase: string, holder: ClaimWorld['claim'] | undefined): string[] =>
    descriptionLines(describeTarget({ ...bound, target: target(phase), claim: holder }), [], unpainted, NOW);
  expect(shown('Bound', bound.claim)).toEqual([
    'Target team/staging-dt  Bound  namespace place at https://api.test',
    '├─ Claim team/staging  Bound  class sandbox',
    '└─ Secret team/access  present',
  ]);
  expect(shown('Available', undefined)[1]).toBe('├─ Claim team/staging  absent  the target is reserved for it');
  expect(shown('Released', undefined)[1]).toContain('annotate it with dt.appstudio.redhat.com/make-available=true');
});
