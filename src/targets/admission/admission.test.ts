// Every admission rule as a table: what is refused with which message, what gets a warning, what is admitted.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../api/targets.ts';
import type { AdmissionRequest, AdmissionResponse } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import type { AnyKind, AnyObject } from '../../kube/index.ts';
import { Claims } from '../world.ts';
import { problemsOf } from './index.ts';
import { targetsAdmission } from './webhook.ts';

type Json = Readonly<Record<string, unknown>>;

function made(kind: AnyKind, spec: Json, metadata: Json = {}): AnyObject {
  return { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: kind.kind, metadata: { name: 'it', ...metadata }, spec };
}

const CREDENTIALS = { defaultNamespace: 'place', apiURL: 'https://api.test', clusterCredentialsSecret: 'access' };

function target(spec: Json, metadata?: Json): AnyObject {
  const all = { deploymentTargetClassName: 'sandbox', kubernetesCredentials: CREDENTIALS, ...spec };
  return made(DeploymentTarget, all, metadata);
}

function claim(spec: Json, annotations?: Json): AnyObject {
  return made(DeploymentTargetClaim, { deploymentTargetClassName: 'sandbox', ...spec }, annotations && { annotations });
}

function ofClass(provisioner: string, parameters: unknown): AnyObject {
  return made(DeploymentTargetClass, { provisioner, reclaimPolicy: 'Delete', parameters });
}

function environment(spec: Json = {}, metadata?: Json): AnyObject {
  return made(Environment, { displayName: 'It', deploymentStrategy: 'Manual', ...spec }, metadata);
}

/** An environment with credentials of its own. */
function direct(clusterType: string | undefined, credentials: Json, metadata?: Json): AnyObject {
  const kubernetesCredentials = {
    targetNamespace: 'place',
    apiURL: 'https://api.test',
    clusterCredentialsSecret: 'access',
    allowInsecureSkipTLSVerify: false,
    ...credentials,
  };
  return environment({ unstableConfigurationFields: { clusterType, kubernetesCredentials } }, metadata);
}

function refusals(object: AnyObject, old?: AnyObject): string[] {
  return problemsOf(object, old).flatMap(({ message, isWarning }) => (isWarning ? [] : [message]));
}

function warnings(object: AnyObject, old?: AnyObject): string[] {
  return problemsOf(object, old).flatMap(({ message, isWarning }) => (isWarning ? [message] : []));
}

const BAD_INGRESS =
  "invalid ingress domain: \"AbADIngr3ssDomaiN.CoM\": an ingress domain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const NO_INGRESS = 'ingress domain cannot be empty if cluster is of type Kubernetes';
const BAD_URL =
  'parse "api.test.com": invalid URI for request: API URL must be an absolute URL starting with an \'https\' scheme ';

function badName(name: string): string {
  return `invalid environment name: ${name}, an environment resource name must start with a lower case alphabetical character, be under 63 characters, and can only consist of lower case alphanumeric characters or ‘-’`;
}

const BAD_SPECS: [string, AnyObject, string][] = [
  ['Kubernetes without an ingress domain', direct('Kubernetes', {}), NO_INGRESS],
  ['Kubernetes with an empty ingress domain', direct('Kubernetes', { ingressDomain: '' }), NO_INGRESS],
  [
    'Kubernetes without credentials',
    environment({ unstableConfigurationFields: { clusterType: 'Kubernetes' } }),
    NO_INGRESS,
  ],
  ['a bad ingress domain on Kubernetes', direct('Kubernetes', { ingressDomain: 'AbADIngr3ssDomaiN.CoM' }), BAD_INGRESS],
  ['a bad ingress domain on OpenShift', direct('OpenShift', { ingressDomain: 'AbADIngr3ssDomaiN.CoM' }), BAD_INGRESS],
  [
    'a bad ingress domain and no cluster type',
    direct(undefined, { ingressDomain: 'AbADIngr3ssDomaiN.CoM' }),
    BAD_INGRESS,
  ],
  ['an invalid API URL', direct('OpenShift', { apiURL: 'api.test.com' }), BAD_URL],
];

describe('an environment', () => {
  test.each<[string, AnyObject]>([
    ['without a configuration', environment()],
    ['on OpenShift without an ingress domain', direct('OpenShift', {})],
    ['on Kubernetes with an ingress domain', direct('Kubernetes', { ingressDomain: 'apps.test' })],
    ['with an http URL, whatever the text says', direct('OpenShift', { apiURL: 'http://api.test' })],
    ['with an empty URL', direct('OpenShift', { apiURL: '' })],
    ['with a name of 63 characters', environment({}, { name: 'a'.repeat(63) })],
    ['with a name that begins with a digit', environment({}, { name: '1st' })],
  ])('%s is admitted', (_name, object) => {
    expect(problemsOf(object)).toEqual([]);
  });

  test.each(BAD_SPECS)('with %s is refused', (_name, object, message) => {
    expect(refusals(object)).toEqual([message]);
    expect(refusals(object, environment())).toEqual([message]);
  });

  test.each(['MyEnvironment', 'a'.repeat(65), 'a.b', '-a'])(
    'named %s is refused when it is created, not later',
    (name) => {
      const object = environment({}, { name });
      expect(refusals(object)).toEqual([badName(name)]);
      expect(refusals(environment({ displayName: 'Other' }, { name }), object)).toEqual([]);
    },
  );

  test('is refused for its name before anything else', () => {
    expect(refusals(direct('Kubernetes', {}, { name: 'Bad' }))).toEqual([badName('Bad')]);
  });

  test('that is already invalid is refused again only when its spec changes', () => {
    const bad = direct('Kubernetes', {});
    expect(problemsOf({ ...bad, metadata: { ...bad.metadata, labels: { a: 'b' } } }, bad)).toEqual([]);
    expect(refusals(direct('Kubernetes', { targetNamespace: 'other' }), bad)).toEqual([NO_INGRESS]);
  });

  test('with a claim and credentials is admitted with a warning', () => {
    const configuration = { target: { deploymentTargetClaim: { claimName: 'staging' } } };
    const both = environment({ configuration, unstableConfigurationFields: {} });
    expect([refusals(both), warnings(both)]).toEqual([
      [],
      [
        'spec.unstableConfigurationFields: an Environment with a claim gets its credentials from the claim: remove one of the two',
      ],
    ]);
    // Go clients write the claim's name even when there is none.
    const unset = { target: { deploymentTargetClaim: { claimName: '' } } };
    expect(problemsOf(environment({ configuration: unset, unstableConfigurationFields: {} }))).toEqual([]);
  });
});

describe('a target', () => {
  test.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['an empty name', ''],
    ['a name', 'staging'],
    ['an object', { name: 'staging' }],
    ['an object with an empty name', { name: '' }],
  ])('whose claimRef is %s is admitted', (_name, claimRef) => {
    expect(problemsOf(target({ claimRef }))).toEqual([]);
  });

  const MUST = 'must be the name of a claim: a text, or an object with that text as its name';
  test.each<[unknown, string[]]>([
    [7, [`spec.claimRef: Invalid value: 7: ${MUST}`]],
    [true, [`spec.claimRef: Invalid value: true: ${MUST}`]],
    [['staging'], [`spec.claimRef: Invalid value: ["staging"]: ${MUST}`]],
    [{}, ['spec.claimRef.name: Required value']],
    [{ name: 7 }, ['spec.claimRef.name: Invalid value: 7: must be the name of a claim']],
    [
      { namespace: 'other', name: 'staging' },
      [
        'spec.claimRef.namespace: is not a known field: a claim is referenced by its name, in the namespace of the target',
      ],
    ],
  ])('whose claimRef is %j is refused', (claimRef, messages) => {
    expect(refusals(target({ claimRef }))).toEqual(messages);
  });

  test('that already has a bad claimRef can still be updated, and corrected', () => {
    const bad = target({ claimRef: 7 });
    expect(problemsOf(target({ claimRef: 7, deploymentTargetClassName: 'other' }), bad)).toEqual([]);
    expect(problemsOf(target({ claimRef: 'staging' }), bad)).toEqual([]);
    expect(refusals(target({ claimRef: 8 }), bad)).toHaveLength(1);
  });

  test.each<[Json, string]>([
    [
      { deploymentTargetClassName: 'My Class' },
      'spec.deploymentTargetClassName: "My Class" is not a valid name for a class: use lowercase letters, digits, "-" and "."',
    ],
    [
      { claimRef: { name: 'Staging' } },
      'spec.claimRef.name: "Staging" is not a valid name for a claim: use lowercase letters, digits, "-" and "."',
    ],
    [
      { kubernetesCredentials: { defaultNamespace: '', apiURL: 'http://api.test', clusterCredentialsSecret: '' } },
      'spec.kubernetesCredentials.apiURL: "http://api.test" is not an https URL without "?" and "&", which Environments require',
    ],
  ])('with %j is admitted with a warning', (spec, message) => {
    expect([refusals(target(spec)), warnings(target(spec))]).toEqual([[], [message]]);
    expect(problemsOf(target(spec), target(spec))).toEqual([]);
  });
});

describe('a claim', () => {
  test.each(['90m', '1h30m', '2d', '1.5h', '36500d'])('may have the ttl %s', (ttl) => {
    expect(problemsOf(claim({ ttl }))).toEqual([]);
  });

  test.each(['', '2 days', '0s', '-1h', '5', '1w', '36501d', '99999999999d'])('may not have the ttl %j', (ttl) => {
    const must = 'must be a duration greater than zero and at most 36500d, such as 90m, 1h30m or 2d';
    const message = `spec.ttl: Invalid value: "${ttl}": ${must}`;
    expect(refusals(claim({ ttl }))).toEqual([message]);
    // The binder writes the name of the target into a claim even if its ttl is invalid.
    expect(problemsOf(claim({ ttl, targetName: 'it-dt' }), claim({ ttl }))).toEqual([]);
    expect(refusals(claim({ ttl }), claim({ ttl: '2d' }))).toEqual([message]);
  });

  test.each<[string, string, string]>([
    [
      'dt.appstudio.redhat.com/selector',
      'a=((',
      'invalid label selector "a=((": expected a value at position 3, found "("',
    ],
    [
      'dt.appstudio.redhat.com/requested-namespace',
      'My_Place',
      'Invalid value: "My_Place": must be a valid namespace name: at most 63 lowercase letters, digits and "-"',
    ],
    [
      'dt.appstudio.redhat.com/ttl',
      'soon',
      'Invalid value: "soon": must be a duration greater than zero and at most 36500d, such as 90m, 1h30m or 2d',
    ],
  ])('whose annotation %s is %j is refused', (annotation, value, message) => {
    const bad = claim({}, { [annotation]: value });
    expect(refusals(bad)).toEqual([`metadata.annotations[${annotation}]: ${message}`]);
    expect(refusals(bad, claim({}))).toHaveLength(1);
    expect(problemsOf(bad, bad)).toEqual([]);
    expect(problemsOf(claim({}, { [annotation]: '1h' }))).toEqual([]);
  });

  test('is refused with all its problems at once', () => {
    const bad = claim({ ttl: 'soon' }, { 'dt.appstudio.redhat.com/requested-namespace': 'A' });
    expect(refusals(bad)).toHaveLength(2);
  });

  test('with names that no object can have is admitted with warnings, as in the original', () => {
    const odd = claim({ deploymentTargetClassName: 'noSuchDTCLS', targetName: 'Odd' });
    expect([refusals(odd), warnings(odd).length]).toEqual([[], 2]);
  });
});

describe('a class', () => {
  const NAMESPACES = 'offshoot.dev/namespace';
  const SANDBOX = 'appstudio.redhat.com/devsandbox';

  test.each<[string, string, unknown]>([
    ['of namespaces', NAMESPACES, { warm: 2, quota: { cpu: 4 }, tokenLifetime: '12h', maxTotal: 3 }],
    ['of sandboxes', SANDBOX, { maxPerNamespace: 3, numOfNodes: 3 }],
    ['without parameters', SANDBOX, undefined],
    ['of another provisioner', 'example.com/clusters', { maxTotal: 'as many as you like' }],
    ['without a provisioner', '', {}],
  ])('%s is admitted', (_name, provisioner, parameters) => {
    expect(problemsOf(ofClass(provisioner, parameters))).toEqual([]);
  });

  test.each<[string, Json, string[]]>([
    [
      NAMESPACES,
      { warm: 'two', tokenLifetime: '1m', wram: 2 },
      [
        'spec.parameters.tokenLifetime: Invalid value: "1m": must be a duration of at least 10m, such as 12h or 7d',
        'spec.parameters.warm: Invalid value: "two": must be a whole number of at least 0',
        'spec.parameters.wram: is not known here',
      ],
    ],
    [
      NAMESPACES,
      { limits: { max: { cpu: 'much' }, least: {} } },
      [
        'spec.parameters.limits.max.cpu: Invalid value: "much": must be a quantity such as 2, 500m or 4Gi',
        'spec.parameters.limits.least: is not known here',
      ],
    ],
    [
      SANDBOX,
      { maxPerNamespace: -1 },
      ['spec.parameters.maxPerNamespace: Invalid value: -1: must be a whole number of at least 0'],
    ],
  ])('of %s with %j is refused', (provisioner, parameters, messages) => {
    expect(refusals(ofClass(provisioner, parameters))).toEqual(messages);
  });
});

test('an object that is being deleted is always admitted', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  expect(problemsOf(target({ claimRef: 7 }, metadata), target({}, metadata))).toEqual([]);
  expect(problemsOf(direct('Kubernetes', {}, metadata), direct('OpenShift', {}, metadata))).toEqual([]);
});

test('the rules leave schema errors to the API server, and never throw', () => {
  const kinds = fc.constantFrom<AnyKind>(DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment);
  const shape = fc.record(
    {
      deploymentTargetClassName: fc.oneof(fc.constant('sandbox'), fc.jsonValue()),
      claimRef: fc.jsonValue(),
      ttl: fc.oneof(fc.string(), fc.jsonValue()),
      provisioner: fc.constantFrom('offshoot.dev/namespace', 'appstudio.redhat.com/devsandbox', 7),
      reclaimPolicy: fc.constantFrom('Delete', 'Keep'),
      parameters: fc.oneof(
        fc.dictionary(fc.constantFrom('warm', 'limits', 'labels', 'ttl'), fc.jsonValue()),
        fc.jsonValue(),
      ),
      kubernetesCredentials: fc.oneof(fc.constant(CREDENTIALS), fc.jsonValue()),
      displayName: fc.string(),
      deploymentStrategy: fc.string(),
      configuration: fc.jsonValue(),
      unstableConfigurationFields: fc.record({ kubernetesCredentials: fc.jsonValue() }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(kinds, fc.oneof(shape, fc.jsonValue()), shape, (kind, spec, before) => {
      const [object, old] = [made(kind, spec as Json), made(kind, before)];
      for (const { message } of [...problemsOf(object), ...problemsOf(object, old)]) expect(message).toMatch(/^\S/);
      expect(problemsOf(object, object)).toEqual([]);
    }),
  );
});

test('other kinds have no rules', () => {
  expect(problemsOf({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'UPPER' } })).toEqual([]);
});

describe('the webhook', () => {
  function ask(request: Partial<AdmissionRequest>, claims: readonly AnyObject[] = []): Promise<AdmissionResponse> {
    const kind = { group: 'appstudio.redhat.com', version: 'v1alpha1', kind: '' };
    const tables = new Tables([Claims]);
    tables.of(Claims).replaceAll(claims as unknown as DeploymentTargetClaim[], '1');
    return targetsAdmission(tables)(
      { uid: '1', kind, operation: 'CREATE', userInfo: {}, ...request },
      AbortSignal.timeout(1000),
    );
  }

  test('refuses an environment with the contract message alone', async () => {
    expect(await ask({ object: direct('Kubernetes', {}) })).toEqual({
      allowed: false,
      status: { status: 'Failure', code: 403, reason: 'Forbidden', message: NO_INGRESS },
    });
  });

  test('names the object and all its problems', async () => {
    const { status } = await ask({ object: ofClass('offshoot.dev/namespace', { warm: -1, wram: 1 }) });
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message:
        'DeploymentTargetClass.appstudio.redhat.com "it" is invalid: [spec.parameters.warm: Invalid value: -1: must be a whole number of at least 0, spec.parameters.wram: is not known here]',
      details: {
        name: 'it',
        group: 'appstudio.redhat.com',
        kind: 'DeploymentTargetClass',
        causes: [
          {
            reason: 'FieldValueInvalid',
            field: 'spec.parameters.warm',
            message: 'Invalid value: -1: must be a whole number of at least 0',
          },
          { reason: 'FieldValueInvalid', field: 'spec.parameters.wram', message: 'is not known here' },
        ],
      },
    });
  });

  test('admits with a warning', async () => {
    expect(await ask({ object: claim({ targetName: 'Odd' }) })).toEqual({
      allowed: true,
      warnings: [expect.stringContaining('"Odd" is not a valid name for a target')],
    });
  });

  test('compares an update, and only an update, with the old object', async () => {
    const [bad, worse] = [claim({ ttl: 'soon' }), claim({ ttl: 'soon', targetName: 'x' })];
    expect(await ask({ operation: 'UPDATE', object: worse, oldObject: bad })).toEqual({ allowed: true });
    expect(await ask({ operation: 'CREATE', object: worse, oldObject: null })).toMatchObject({ allowed: false });
    expect(await ask({ operation: 'DELETE', object: null, oldObject: bad })).toEqual({ allowed: true });
  });

  test('takes the name from the request where the object has none yet', async () => {
    const nameless = environment({}, { name: undefined, generateName: 'env-' });
    expect(await ask({ name: 'env-x', object: nameless })).toEqual({ allowed: true });
  });

  describe('asked to change the claimRef of a target', () => {
    const UID = 'dt.appstudio.redhat.com/claim-uid';
    const inTeam = { namespace: 'team' };
    const recorded = { ...inTeam, annotations: { [UID]: '1' } };
    const phase = (object: AnyObject, is: string): AnyObject => ({ ...object, status: { phase: is } });
    const holder = phase(
      made(
        DeploymentTargetClaim,
        { deploymentTargetClassName: 'sandbox', targetName: 'it' },
        { ...inTeam, name: 'staging', uid: '1', resourceVersion: '1' },
      ),
      'Bound',
    );
    const change = (
      from: unknown,
      to: unknown,
      claims: readonly AnyObject[],
      metadata: Json = recorded,
      is = 'Bound',
    ) =>
      ask(
        {
          operation: 'UPDATE',
          object: phase(target({ claimRef: to }, metadata), is),
          oldObject: phase(target({ claimRef: from }, metadata), is),
        },
        claims,
      );

    test.each<[unknown, unknown, Json]>([
      ['staging', 'other', recorded],
      ['staging', { name: 'other' }, recorded],
      [{ name: 'staging' }, { name: 'other' }, recorded],
      ['', 'other', recorded],
      ['staging', 'other', inTeam],
    ])('from %j to %j, refuses while its claim exists, and says what to do', async (from, to, metadata) => {
      expect(await change(from, to, [holder], metadata)).toMatchObject({
        allowed: false,
        status: {
          code: 422,
          message: `DeploymentTarget.appstudio.redhat.com "it" is invalid: spec.claimRef: Invalid value: ${JSON.stringify(to)}: the target is bound to DeploymentTargetClaim team/staging: delete that claim first, or leave "staging"`,
          details: { causes: [{ field: 'spec.claimRef' }] },
        },
      });
    });

    test.each<[string, unknown, unknown, readonly AnyObject[], string?]>([
      ['clearing it', 'staging', '', [holder]],
      ['removing it', 'staging', undefined, [holder]],
      ['another form', 'staging', { name: 'staging' }, [holder]],
      ['setting it back', 'other', 'staging', [holder]],
      ['no change', 'other', 'other', [holder]],
      ['another claim when its claim is gone', 'staging', 'other', []],
      [
        'another claim when its claim was created again',
        'staging',
        'other',
        [{ ...holder, metadata: { ...holder.metadata, uid: '2' } }],
      ],
      ['another claim before it is bound', 'staging', 'other', [holder], 'Available'],
    ])('allows %s', async (_what, from, to, claims, is) => {
      expect(await change(from, to, claims, recorded, is)).toEqual({ allowed: true });
    });

    test('allows everything while it is being deleted', async () => {
      const metadata = { ...recorded, deletionTimestamp: '2026-01-01T00:00:00Z' };
      expect(await change('staging', 'other', [holder], metadata)).toEqual({ allowed: true });
    });
  });
});
