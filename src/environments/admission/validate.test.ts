import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DynamicEnv, Subset } from '../../api/dynamicenv.ts';
import { validateCreate, validateUpdate } from './validate.ts';
import type { Facts, Verdict } from './validate.ts';

const details: Subset = {
  name: 'details',
  namespace: 'shop',
  containers: [{ containerName: 'app', image: 'details:2' }],
};
const match = { headers: { 'x-env': { exact: 'blue' } } };

function env(spec: Partial<DynamicEnv['spec']> = {}, metadata: Partial<DynamicEnv['metadata']> = {}): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'blue', namespace: 'shop', ...metadata },
    spec: { istioMatches: [match], subsets: [details], ...spec },
  };
}

function denial(message: string): Verdict {
  return { allowed: false, status: { code: 403, reason: 'Forbidden', message }, at: expect.any(Array) as [] };
}

function messageOf(verdict: Verdict): string | undefined {
  return verdict.allowed ? undefined : verdict.status.message;
}

const matchJson = '{"headers":{"x-env":{"exact":"blue"}}}';
const detailsJson = '{"name":"details","namespace":"shop","containers":[{"containerName":"app","image":"details:2"}]}';

describe('validateCreate', () => {
  test('allows an ordinary environment', () => {
    expect(validateCreate(env())).toEqual({ allowed: true });
  });

  test('allows an environment with only a key', () => {
    expect(validateCreate(env({ key: 'pr-1', istioMatches: [] }))).toEqual({ allowed: true });
    const { istioMatches: _matches, ...spec } = env().spec;
    expect(validateCreate({ ...env(), spec: { ...spec, key: 'pr-1' } })).toEqual({ allowed: true });
  });

  test.each(['', 'a b', 'a,b', 'a;b', 'pr-', '-pr', 'ä', 'a%20b', 'a'.repeat(64)])('refuses the key "%s"', (key) => {
    expect(messageOf(validateCreate(env({ key })))).toBe(
      `spec.key: Invalid value: ${JSON.stringify(key)}: it must be at most 63 letters, digits, ".", "_" and "-", and begin and end with a letter or digit`,
    );
  });

  test.each<[string, Partial<DynamicEnv['spec']>, string]>([
    ['no match', { istioMatches: [] }, 'spec: Invalid value: []: empty IstioMatch is invalid for DynamicEnv'],
    [
      'an empty match among others',
      { istioMatches: [match, { headers: {}, sourceLabels: {} }] },
      `spec: Invalid value: [${matchJson},{}]: empty IstioMatch is invalid for DynamicEnv`,
    ],
    [
      'no replicas and no containers, with the message for replicas',
      { subsets: [{ name: 'details', namespace: 'shop', replicas: 0 }] },
      `spec: Invalid value: {"istioMatches":[${matchJson}],"subsets":[{"name":"details","namespace":"shop","replicas":0}]}: It's illegal to use 0 replicas!`,
    ],
    [
      'no replicas of a consumer',
      { consumers: [{ ...details, name: 'worker', replicas: 0 }] },
      `spec: Invalid value: {"istioMatches":[${matchJson}],"subsets":[${detailsJson}],"consumers":[{"name":"worker","namespace":"shop","replicas":0,"containers":[{"containerName":"app","image":"details:2"}]}]}: It's illegal to use 0 replicas!`,
    ],
    [
      'neither containers nor init containers',
      { subsets: [{ name: 'details', namespace: 'shop', containers: [] }] },
      'spec[details]: Invalid value: {"name":"details","namespace":"shop"}: At least a single container or init-container must be specified',
    ],
    [
      'a container twice',
      { subsets: [{ ...details, containers: [{ containerName: 'app' }, { containerName: 'app' }] }] },
      'spec.Subsets[details].Containers: Invalid value: [{"containerName":"app"},{"containerName":"app"}]: It seems that not all container names are unique',
    ],
    [
      'an init container twice',
      { subsets: [{ ...details, initContainers: [{ containerName: 'init' }, { containerName: 'init' }] }] },
      'spec.Subsets[details].initContainers: Invalid value: [{"containerName":"init"},{"containerName":"init"}]: It seems that not all container names are unique',
    ],
    [
      'a Deployment that is a subset and a consumer',
      { consumers: [details] },
      `spec: Invalid value: {"istioMatches":[${matchJson}],"subsets":[${detailsJson}],"consumers":[${detailsJson}]}: It seems that the following deployment appears in more then one subset/consumer: shop/details`,
    ],
  ])('refuses %s', (_name, spec, message) => {
    expect(validateCreate(env(spec))).toEqual(denial(message));
  });

  test('allows a container and an init container of the same name', () => {
    const subset = { ...details, initContainers: [{ containerName: 'app' }] };
    expect(validateCreate(env({ subsets: [subset] }))).toEqual({ allowed: true });
  });

  describe('for overrides', () => {
    const inContainer = (overrides: object): Subset => ({
      ...details,
      containers: [{ containerName: 'app', ...overrides }],
    });
    const withVariable = (variable: object): Subset =>
      inContainer({
        env: [
          { name: 'A', value: '1' },
          { name: 'B', ...variable },
        ],
      });
    const at = 'spec.subsets[0]';
    const container = `${at}.containers[0]`;
    const syntax = 'write it as [registry/]name[:tag][@digest], such as registry.example/cart:2';
    const source = { configMapKeyRef: { name: 'a', key: 'b' } };

    test.each<[Subset, string]>([
      [{ ...details, replicas: -1 }, `${at}.replicas: Invalid value: -1: it must be a whole number of at least 1`],
      [inContainer({ image: 'a b' }), `${container}.image: Invalid value: "a b": an image contains no space`],
      [inContainer({ image: 'a:2 ' }), `${container}.image: Invalid value: "a:2 ": an image contains no space`],
      [inContainer({ image: 'a:' }), `${container}.image: Invalid value: "a:": ${syntax}`],
      [inContainer({ image: 'a:b:c' }), `${container}.image: Invalid value: "a:b:c": ${syntax}`],
      [inContainer({ image: 'https://a/b' }), `${container}.image: Invalid value: "https://a/b": ${syntax}`],
      [
        inContainer({ image: 'Cart:2' }),
        `${container}.image: Invalid value: "Cart:2": the name of an image is in lowercase`,
      ],
      [
        withVariable({ name: 'a=b' }),
        `${container}.env[1].name: Invalid value: "a=b": a name has at least one character, all printable ASCII other than "="`,
      ],
      [
        withVariable({ value: '1', valueFrom: source }),
        `${container}.env[1].valueFrom: Invalid value: ${JSON.stringify(source)}: a variable has either value or valueFrom`,
      ],
      [
        withVariable({ valueFrom: {} }),
        `${container}.env[1].valueFrom: Invalid value: {}: it must name exactly one source`,
      ],
      [
        { ...details, podLabels: { team: 'a b' } },
        `${at}.podLabels.team: Invalid value: "a b": "a b" is not a label value: it must be at most 63 letters, digits, "-", "_" or ".", a letter or digit at both ends`,
      ],
      [
        { ...details, podLabels: { 'a b': 'c' } },
        `${at}.podLabels.a b: Invalid value: "c": "a b" is not a label key: the name must be 1 to 63 letters, digits, "-", "_" or ".", a letter or digit at both ends`,
      ],
    ])('refuses %j', (subset, message) => {
      expect(validateCreate(env({ subsets: [subset] }))).toEqual(denial(message));
      expect(validateUpdate(env(), env({ subsets: [subset] }))).toEqual(denial(message));
      const consumer = { ...subset, name: 'worker' };
      expect(validateCreate(env({ consumers: [consumer] }))).toEqual(denial(message.replace('subsets', 'consumers')));
      // An invalid value that is already stored must not block adding a finalizer.
      const stored = env({ subsets: [subset] });
      expect(validateUpdate(stored, { ...stored, metadata: { ...stored.metadata, finalizers: ['a'] } })).toEqual({
        allowed: true,
      });
    });

    test.each([
      inContainer({ image: '' }),
      inContainer({ image: 'localhost:5000/a/b_c/d--e:V1.2_3' }),
      inContainer({ image: `Registry.example/a@sha256:${'0'.repeat(64)}` }),
      inContainer({ image: `[::1]:5000/a:1@sha256:${'a'.repeat(64)}` }),
      withVariable({ name: '1.a-b c', value: '' }),
      withVariable({ value: '', valueFrom: source }),
      { ...details, replicas: 3, podLabels: { 'example.org/team': '', a: 'B_c.d' } },
    ])('allows %j', (subset) => {
      expect(validateCreate(env({ subsets: [subset] }))).toEqual({ allowed: true });
    });
  });

  test('refuses a header with two match types, with a cause', () => {
    const istioMatches = [{ headers: { 'x-env': { exact: 'blue', prefix: 'b', regex: '' } } }];
    const field = 'spec.istioMatch.headers.x-env';
    const body = `Invalid value: "header": ${field} must validate one and only one schema (oneOf). Found 2 valid alternatives`;
    expect(validateCreate(env({ istioMatches }))).toEqual({
      allowed: false,
      status: {
        status: 'Failure',
        code: 422,
        reason: 'Invalid',
        message: `DynamicEnv.dynamicenv.riskified.com "blue" is invalid: ${field}: ${body}`,
        details: {
          name: 'blue',
          group: 'dynamicenv.riskified.com',
          kind: 'DynamicEnv',
          causes: [{ reason: 'FieldValueInvalid', message: body, field }],
        },
      },
      at: ['spec', 'istioMatches', 0, 'headers', 'x-env'],
      plain: [
        {
          at: ['spec', 'istioMatches', 0, 'headers', 'x-env'],
          message: 'spec.istioMatches[0].headers[x-env]: must have exactly one of exact, prefix and regex, and has 2',
        },
      ],
    });
  });

  test.each(['(', '([', '*a', 'a\\', 'a(?=b)', '(a)\\1', 'a{1,2000}'])(
    'refuses a regular expression that a proxy would reject: %s',
    (regex) => {
      const istioMatches = [match, { headers: { who: { exact: 'a' }, 'x-env': { regex } } }];
      const verdict = validateCreate(env({ istioMatches }));
      expect(messageOf(verdict)).toMatch(/^spec\.istioMatches\[1\]\.headers\[x-env\]\.regex: Invalid value: /);
      expect(messageOf(verdict)).toContain(`${JSON.stringify(regex)}: not valid RE2 (`);
      expect(verdict).toMatchObject({ at: ['spec', 'istioMatches', 1, 'headers', 'x-env', 'regex'] });
    },
  );

  test.each([
    [{ 'x-env': { exact: 'a\nb' } }, 'x-env].exact: Invalid value: "a\\nb": it has a control character, '],
    [{ 'x-env': { prefix: ' a' } }, 'x-env].prefix: Invalid value: " a": it begins with a blank, which HTTP removes: '],
    [{ 'x-env': { regex: 'a$b' } }, 'x-env].regex: Invalid value: "a$b": it matches no value that a header can have: '],
    [
      { 'x-env': { exact: 'a' }, 'X-ENV': { exact: 'b' } },
      'X-ENV].exact: Invalid value: "b": it contradicts exact "a" of header x-env: ',
    ],
  ])('refuses a header that no request can have: %j', (headers, text) => {
    const message = messageOf(validateCreate(env({ istioMatches: [match, { headers }] })));
    expect(message).toContain(`spec.istioMatches[1].headers[${text}`);
    expect(message).toMatch(/: no request would reach the environment by this match$/);
  });

  test.each([
    [{ 'a b': 'c' }, 'a b]: Invalid value: "c": "a b" is not a label key: the name must be '],
    [{ '': 'c' }, ']: Invalid value: "c": "" is not a label key: the name must be '],
    [{ 'Shop/app': 'c' }, 'Shop/app]: Invalid value: "c": "Shop/app" is not a label key: the part before the slash '],
    [{ app: 'c d!' }, 'app]: Invalid value: "c d!": "c d!" is not a label value: it must be '],
    [{ app: '*' }, 'app]: Invalid value: "*": "*" is not a label value: it must be '],
  ])('refuses an invalid source label: %j', (sourceLabels, text) => {
    const verdict = validateCreate(env({ istioMatches: [match, { sourceLabels }] }));
    expect(messageOf(verdict)).toContain(`spec.istioMatches[1].sourceLabels[${text}`);
    expect(verdict).toMatchObject({ at: ['spec', 'istioMatches', 1, 'sourceLabels', Object.keys(sourceLabels)[0]] });
  });

  test('accepts source labels with a prefix or without a value', () => {
    const sourceLabels = { 'shop.example/app': 'a', tier: '' };
    expect(validateCreate(env({ istioMatches: [{ sourceLabels }] }))).toEqual({ allowed: true });
  });

  test('refuses an invalid regular expression only in new environments', () => {
    const istioMatches = [{ headers: { 'x-env': { regex: '(' } } }];
    const changed = env({ istioMatches, subsets: [{ ...details, replicas: 2 }] });
    expect(validateUpdate(env({ istioMatches }), changed)).toEqual({ allowed: true });
  });

  test('names all bad headers, without duplicate messages', () => {
    const istioMatches: DynamicEnv['spec']['istioMatches'] = [
      { headers: { a: {}, b: { exact: 'x', regex: 'y' } } },
      { headers: { a: {} } },
    ];
    const verdict = validateCreate(env({ istioMatches }));
    const text = (name: string, found: number) =>
      `spec.istioMatch.headers.${name}: Invalid value: "header": spec.istioMatch.headers.${name} must validate one and only one schema (oneOf). Found ${found} valid alternatives`;
    expect(messageOf(verdict)).toBe(
      `DynamicEnv.dynamicenv.riskified.com "blue" is invalid: [${text('a', 0)}, ${text('b', 2)}]`,
    );
    expect(verdict.allowed ? [] : verdict.status.details?.causes).toHaveLength(3);
  });

  test('reports a bad header after bad subsets', () => {
    const istioMatches = [{ headers: { a: {} } }];
    expect(messageOf(validateCreate(env({ istioMatches, subsets: [{ ...details, replicas: 0 }] })))).toContain(
      "It's illegal to use 0 replicas!",
    );
  });

  test('quotes the value with its fields in order, with escaped markup and without empty fields', () => {
    const subset: Subset = {
      replicas: 0,
      namespace: 'shop',
      name: 'details',
      defaultVersion: '',
      podLabels: { z: '1', a: '<2>' },
      containers: [
        {
          env: [
            { valueFrom: { secretKeyRef: { key: 'k', name: 's', optional: false } }, name: 'A' },
            { name: 'B', value: '', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ],
          command: [],
          containerName: 'app',
        },
      ],
    };
    expect(messageOf(validateCreate(env({ subsets: [subset] })))).toContain(
      '"subsets":[{"name":"details","namespace":"shop","podLabels":{"a":"\\u003c2\\u003e","z":"1"},"replicas":0,' +
        '"containers":[{"containerName":"app","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":false}}},' +
        '{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}]}]}]}',
    );
  });
});

describe('validateUpdate', () => {
  test.each<[string, Partial<DynamicEnv['spec']>, Partial<DynamicEnv['spec']>, string]>([
    [
      'another match',
      {},
      { istioMatches: [{ headers: { 'x-env': { prefix: 'b' } } }] },
      'spec: Invalid value: [{"headers":{"x-env":{"prefix":"b"}}}]: spec.istioMatch field is immutable: make another environment',
    ],
    [
      'another order of the matches',
      { istioMatches: [match, { sourceLabels: { app: 'x' } }] },
      { istioMatches: [{ sourceLabels: { app: 'x' } }, match] },
      `spec: Invalid value: [{"sourceLabels":{"app":"x"}},${matchJson}]: spec.istioMatch field is immutable: make another environment`,
    ],
    [
      'another key',
      { key: 'a' },
      { key: 'b' },
      'spec.key: Invalid value: "b": spec.key field is immutable: make another environment',
    ],
    [
      'a new key',
      {},
      { key: 'b' },
      'spec.key: Invalid value: "b": spec.key field is immutable: make another environment',
    ],
    [
      'a removed key',
      { key: 'a' },
      {},
      'spec.key: Invalid value: null: spec.key field is immutable: make another environment',
    ],
    [
      'zero replicas',
      {},
      { subsets: [{ ...details, replicas: 0 }] },
      `spec: Invalid value: {"istioMatches":[${matchJson}],"subsets":[{"name":"details","namespace":"shop","replicas":0,"containers":[{"containerName":"app","image":"details:2"}]}]}: It's illegal to use 0 replicas!`,
    ],
    [
      'one more container, with the numbers swapped as in the original',
      {},
      { subsets: [{ ...details, containers: [{ containerName: 'app' }, { containerName: 'log' }] }] },
      `spec.Subsets[details].Containers: Invalid value: [{"containerName":"app"},{"containerName":"log"}]: couldn't find matching container to existing container: number of new containers (1) does not match the number of old containers (2)`,
    ],
    [
      'another container',
      {},
      { subsets: [{ ...details, containers: [{ containerName: 'log' }] }] },
      `spec.Subsets[details].Containers: Invalid value: [{"containerName":"log"}]: couldn't find matching container to existing container: app`,
    ],
    [
      'a removed init container',
      { subsets: [{ ...details, initContainers: [{ containerName: 'init' }] }] },
      {},
      `spec.Subsets[details].initContainers: Invalid value: null: couldn't find matching container to existing container: number of new containers (1) does not match the number of old containers (0)`,
    ],
    [
      'another init container of a subset that became a consumer',
      { subsets: [{ ...details, initContainers: [{ containerName: 'init' }] }] },
      { subsets: [], consumers: [{ ...details, initContainers: [{ containerName: 'start' }] }] },
      `spec.Subsets[details].initContainers: Invalid value: [{"containerName":"start"}]: couldn't find matching container to existing container: init`,
    ],
    [
      'another default version',
      {},
      { subsets: [{ ...details, defaultVersion: 'v2' }] },
      `spec.Subsets: Invalid value: [{"name":"details","namespace":"shop","containers":[{"containerName":"app","image":"details:2"}],"defaultVersion":"v2"}]: Changing default-version is not supported (modified '' to 'v2')`,
    ],
  ])('refuses %s', (_name, before, after, message) => {
    expect(validateUpdate(env(before), env(after))).toEqual(denial(message));
  });

  const reviews: Subset = { name: 'reviews', namespace: 'shop', containers: [{ containerName: 'app' }] };
  test.each<[string, Partial<DynamicEnv['spec']>, Partial<DynamicEnv['spec']>]>([
    ['another image', {}, { subsets: [{ ...details, containers: [{ containerName: 'app', image: 'details:3' }] }] }],
    [
      'replicas, labels, command and variables',
      {},
      {
        subsets: [
          {
            ...details,
            replicas: 3,
            podLabels: { a: 'b' },
            containers: [{ containerName: 'app', command: ['x'], env: [{ name: 'A', value: 'b' }] }],
          },
        ],
      },
    ],
    ['a new subset and consumer', {}, { subsets: [reviews, details], consumers: [{ ...reviews, name: 'worker' }] }],
    ['a subset removed', { subsets: [details, reviews] }, { subsets: [reviews] }],
    ['an empty field that was absent', {}, { istioMatches: [{ headers: { 'x-env': { exact: 'blue', prefix: '' } } }] }],
    [
      'an unchanged match that is no longer valid',
      { istioMatches: [{ headers: { a: {} } }] },
      { istioMatches: [{ headers: { a: {} } }] },
    ],
  ])('allows %s', (_name, before, after) => {
    expect(validateUpdate(env(before), env(after))).toEqual({ allowed: true });
  });

  test('allows everything once the environment is being deleted', () => {
    const facts: Facts = {
      namesakes: [{ namespace: 'sh', name: 'op-blue' }],
      requester: { name: 'jane', lacks: () => true },
    };
    const leaving = env(
      { istioMatches: [], subsets: [{ ...details, replicas: 0 }] },
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
    );
    expect(validateUpdate(env(), leaving, facts)).toEqual({ allowed: true });
    expect(validateCreate(leaving, facts)).toEqual({ allowed: true });
  });
});

test.each<[string, DynamicEnv, readonly (string | number)[]]>([
  ['a match', env({ istioMatches: [] }), ['spec', 'istioMatches']],
  ['replicas', env({ consumers: [{ ...details, name: 'b', replicas: 0 }] }), ['spec', 'consumers', 0, 'replicas']],
  ['a subset', env({ subsets: [details, { name: 'b', namespace: 'shop' }] }), ['spec', 'subsets', 1]],
  ['the second of two', env({ subsets: [details, details] }), ['spec', 'subsets', 1]],
  ['the name', env({}, { name: 'a.b' }), ['metadata', 'name']],
])('a refusal points at %s', (_name, object, at) => {
  expect(validateCreate(object)).toMatchObject({ allowed: false, at });
});

describe('the name of an environment', () => {
  test('is refused if it leads to the names of another one, and both are named', () => {
    const facts = { namesakes: [{ namespace: 'team', name: 'a-b' }] };
    const subsets = [{ ...details, namespace: 'team-a' }];
    expect(validateCreate(env({ subsets }, { namespace: 'team-a', name: 'b' }), facts)).toEqual(
      denial(
        'metadata.name: Invalid value: "b": environments team/a-b and team-a/b would both be named "team-a-b": rename one of them',
      ),
    );
  });

  test('does not collide with itself', () => {
    expect(validateCreate(env(), { namesakes: [{ namespace: 'shop', name: 'blue' }] })).toEqual({ allowed: true });
  });

  test.each(['a.b', `${'x'.repeat(39)}-y`])('is refused if it makes no valid subset name: %s', (name) => {
    expect(messageOf(validateCreate(env({}, { name })))).toContain('is not a valid subset name');
  });
});

describe('the permission to deploy to another namespace', () => {
  const pay: Subset = { ...details, namespace: 'pay' };
  const facts: Facts = { requester: { name: 'jane', lacks: ({ namespace }) => namespace === 'pay' } };
  const refusal = (path: string): Verdict =>
    denial(
      `${path}: Forbidden: user "jane" cannot create resource "deployments" in API group "apps" in the namespace "pay", which an environment there requires: ask for that permission, or use Deployments in the environment's own namespace`,
    );

  test('is required for subsets and consumers in other namespaces', () => {
    expect(validateCreate(env({ subsets: [details, pay] }), facts)).toEqual(refusal('spec.subsets[1].namespace'));
    expect(validateCreate(env({ consumers: [pay] }), facts)).toEqual(refusal('spec.consumers[0].namespace'));
  });

  test('is not required in the namespace of the environment', () => {
    const own: Facts = { requester: { name: 'jane', lacks: ({ namespace }) => namespace === 'shop' } };
    expect(validateCreate(env(), own)).toEqual({ allowed: true });
  });

  test('is required to change a subset in another namespace, not to keep it', () => {
    const before = env({ subsets: [details, pay] });
    const labelled = env({ subsets: [pay, details] }, { labels: { team: 'x' } });
    expect(validateUpdate(before, labelled, facts)).toEqual({ allowed: true });
    const image = { ...pay, containers: [{ containerName: 'app', image: 'evil:1' }] };
    expect(validateUpdate(before, env({ subsets: [details, image] }), facts)).toEqual(
      refusal('spec.subsets[1].namespace'),
    );
  });
});

describe('the permission to read Secrets and ConfigMaps of variables', () => {
  const facts: Facts = { requester: { name: 'jane', lacks: ({ name }) => name === 'hidden' } };
  const reading = (form: 'secretKeyRef' | 'configMapKeyRef', name: string, image = 'details:2'): Subset => ({
    ...details,
    containers: [
      {
        containerName: 'app',
        image,
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { [form]: { name, key: 'k' } } },
        ],
      },
    ],
  });
  const message = (path: string, resource: string): string =>
    `${path}.name: Forbidden: user "jane" cannot get resource "${resource}" "hidden" in API group "" in the namespace "shop", and the variable would expose it: ask for that permission, or remove the variable`;

  test('is required in any namespace, for containers and init containers', () => {
    expect(messageOf(validateCreate(env({ subsets: [reading('secretKeyRef', 'hidden')] }), facts))).toBe(
      message('spec.subsets[0].containers[0].env[1].valueFrom.secretKeyRef', 'secrets'),
    );
    const { containers: initContainers, ...worker } = { ...reading('configMapKeyRef', 'hidden'), name: 'worker' };
    expect(messageOf(validateCreate(env({ consumers: [{ ...worker, initContainers: initContainers! }] }), facts))).toBe(
      message('spec.consumers[0].initContainers[0].env[1].valueFrom.configMapKeyRef', 'configmaps'),
    );
    expect(validateCreate(env({ subsets: [reading('secretKeyRef', 'open')] }), facts)).toEqual({ allowed: true });
  });

  test('is required to change a subset that reads them, not to keep it', () => {
    const before = env({ subsets: [reading('secretKeyRef', 'hidden')] });
    expect(validateUpdate(before, { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } }, facts)).toEqual({
      allowed: true,
    });
    expect(
      validateUpdate(before, env({ subsets: [reading('secretKeyRef', 'hidden', 'evil:1')] }), facts),
    ).toMatchObject({
      allowed: false,
    });
    expect(validateUpdate(env({ subsets: [reading('secretKeyRef', 'open')] }), before, facts)).toMatchObject({
      allowed: false,
    });
  });
});

describe('a Deployment that is the clone of an environment', () => {
  const clone = { ...details, name: 'details-shop-green' };
  const message =
    'spec.subsets[1].name: Invalid value: "details-shop-green": Deployment shop/details-shop-green is the clone that environment shop/green made: name the Deployment that it was cloned from';
  const green = { name: 'green', namespace: 'shop' };
  const facts: Facts = { makersOf: (key) => (key === 'shop/details-shop-green' ? [green] : []) };

  test('cannot be the base of another environment', () => {
    expect(validateCreate(env({ subsets: [details, clone] }), facts)).toEqual(denial(message));
    expect(validateUpdate(env(), env({ subsets: [details, clone] }), facts)).toEqual(denial(message));
  });

  test('cannot be the base of the same environment', () => {
    expect(validateCreate(env({ subsets: [details, clone] }, green))).toEqual(denial(message));
  });

  test('may be kept if it is already there: the controllers report it', () => {
    const before = env({ subsets: [clone] });
    expect(validateUpdate(before, env({ subsets: [clone] }, { labels: { a: 'b' } }), facts)).toEqual({ allowed: true });
  });
});

test('validation of any object never throws', () => {
  const name = fc.constantFrom('a', 'b', '');
  const overrides = fc.record({ containerName: name, image: name }, { requiredKeys: ['containerName'] });
  const subset = fc.record(
    {
      name,
      namespace: name,
      replicas: fc.integer({ min: -1, max: 2 }),
      containers: fc.array(overrides, { maxLength: 3 }),
      initContainers: fc.array(overrides, { maxLength: 3 }),
      defaultVersion: name,
    },
    { requiredKeys: ['name', 'namespace'] },
  );
  const spec = fc.record(
    {
      istioMatches: fc.array(fc.record({ headers: fc.dictionary(name, fc.record({ exact: name })) }), { maxLength: 2 }),
      subsets: fc.array(subset, { maxLength: 3 }),
      consumers: fc.array(subset, { maxLength: 2 }),
    },
    { requiredKeys: ['istioMatches', 'subsets'] },
  );
  const isConsistent = (before: DynamicEnv['spec'], after: DynamicEnv['spec']): boolean => {
    const created = validateCreate(env(after));
    const refusals = [created, validateUpdate(env(before), env(after))].flatMap((each) => messageOf(each) ?? []);
    // What may be created may be kept unchanged.
    const stays = !created.allowed || validateUpdate(env(after), env(after)).allowed;
    return stays && refusals.every((text) => text.includes(': Invalid value: '));
  };
  expect(() => fc.assert(fc.property(spec, spec, isConsistent))).not.toThrow();
});

describe('a time to live', () => {
  const withTtl = (duration: string): DynamicEnv => env({ ttl: { duration } });
  const path = 'spec.ttl.duration: Invalid value: ';

  test.each(['1s', '90m', '1h30m', '24h0m0s', '365d'])('may be %s', (duration) => {
    expect(validateCreate(withTtl(duration))).toEqual({ allowed: true });
  });

  test.each([
    ['', 'it must be a duration, such as 90m, 8h, 1h30m or 2d'],
    ['8', 'it must be a duration, such as 90m, 8h, 1h30m or 2d'],
    ['-1h', 'it must be a duration, such as 90m, 8h, 1h30m or 2d'],
    ['0s', 'it is too short: the environment would be deleted at once'],
    ['366d', 'it must be at most 365d: omit spec.ttl for an environment that does not expire'],
  ])('may not be "%s"', (duration, detail) => {
    const verdict = denial(`${path}${JSON.stringify(duration)}: ${detail}`);
    expect(validateCreate(withTtl(duration))).toEqual(verdict);
    expect(validateUpdate(env(), withTtl(duration))).toEqual(verdict);
    // An invalid value that is already stored must not block writing finalizers.
    expect(validateUpdate(withTtl(duration), withTtl(duration))).toEqual({ allowed: true });
  });

  test('may be extended to a valid time only', () => {
    const extended = (until: string): DynamicEnv =>
      env({ ttl: { duration: '1h' } }, { annotations: { 'offshoot.dev/extended-until': until } });
    expect(validateCreate(extended('2026-01-31T18:00:00Z'))).toEqual({ allowed: true });
    expect(validateUpdate(withTtl('1h'), extended('tomorrow'))).toEqual(
      denial(
        'metadata.annotations[offshoot.dev/extended-until]: Invalid value: "tomorrow": it must be a time, such as 2026-01-31T18:00:00Z',
      ),
    );
  });
});
