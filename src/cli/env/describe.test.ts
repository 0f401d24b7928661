import { describe, expect, test } from 'vitest';
import type { DynamicEnv, DynamicEnvStatus, StringMatch } from '../../api/dynamicenv.ts';
import type { Deployment } from '../../environments/objects.ts';
import type { DestinationRule, HttpMatch, HttpRoute, VirtualService } from '../../traffic/istio/objects.ts';
import { unpainted } from '../terminal/colour.ts';
import { environmentLines } from './describe.ts';
import type { EnvironmentWorld } from '../../environments/describe/world.ts';
import { baggageRegex } from '../../traffic/baggage.ts';
import { problemsOf } from '../../api/description/tree.ts';
import { describeEnvironment } from '../../environments/describe/tree.ts';
import { messages } from '../../environments/status/messages.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');

function world(status: Partial<DynamicEnvStatus> | undefined, rest: Partial<EnvironmentWorld> = {}): EnvironmentWorld {
  const env: DynamicEnv = {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { name: 'feature', namespace: 'shop', generation: 1 },
    spec: {
      istioMatches: [{ headers: { 'end-user': { exact: 'alice' } } }],
      subsets: [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'app', image: 'cart:2', env: [] }] }],
    },
    ...(status && { status: { subsetsStatus: {}, totalReady: 0, observedGeneration: 1, ...status } }),
  };
  const none = {
    clones: new Map(),
    pods: new Map(),
    rules: new Map(),
    virtualServices: new Map(),
    services: new Map(),
    roots: [],
  };
  return { env, ...none, events: [], ...rest };
}

function clone(status: Deployment['status']): ReadonlyMap<string, Deployment> {
  const containers = [
    { name: 'app', image: 'cart:2' },
    { name: 'helper', image: 'helper:1' },
  ];
  return new Map([
    [
      'shop/cart-shop-feature',
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'cart-shop-feature', namespace: 'shop' },
        spec: { replicas: 1, selector: {}, template: { spec: { containers } } },
        ...(status && { status }),
      },
    ],
  ]);
}

const lines = (of: EnvironmentWorld): string => environmentLines(describeEnvironment(of), unpainted, NOW).join('\n');

test('a ready environment shows every object, how to call it, and its Events', () => {
  const ref = { name: 'cart-shop-feature', namespace: 'shop' };
  const rule: DestinationRule = {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'DestinationRule',
    metadata: { ...ref, name: 'cart-shop-feature-cart' },
    spec: { host: 'cart' },
  };
  const service: VirtualService = {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      hosts: ['cart'],
      http: [
        {
          name: 'dynamic-environment-shop-feature-cart-0123456789',
          match: [{ headers: { 'end-user': { exact: 'alice' } }, uri: { prefix: '/x' } }],
          route: [{ destination: { host: 'cart', subset: 'shop-feature' } }],
        },
        { route: [{ destination: { host: 'cart', subset: 'shared' } }] },
      ],
    },
  };
  const cart = {
    deployment: { ...ref, status: 'running' },
    destinationRules: [{ name: 'cart-shop-feature-cart', namespace: 'shop', status: 'running' }],
    virtualServices: [{ name: 'cart', namespace: 'shop', status: 'running' }],
  };
  const text = lines(
    world(
      { state: 'ready', subsetsStatus: { 'shop/cart': cart } },
      {
        clones: clone({ readyReplicas: 1 }),
        rules: new Map([['shop/cart-shop-feature-cart', rule]]),
        virtualServices: new Map([['shop/cart', service]]),
        services: new Map([
          [
            'shop/cart',
            {
              apiVersion: 'v1',
              kind: 'Service',
              metadata: { name: 'cart', namespace: 'shop' },
              spec: { ports: [{ port: 9080 }] },
            },
          ],
        ]),
        events: [
          {
            apiVersion: 'events.k8s.io/v1',
            kind: 'Event',
            metadata: { name: 'e', namespace: 'shop' },
            eventTime: '2026-01-01T00:00:30.000000Z',
            type: 'Normal',
            reason: 'Ready',
            action: 'Ready',
            note: '1 of 1 subsets and consumers are ready',
            regarding: { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', name: 'feature' },
            reportingController: 'offshoot',
            reportingInstance: 'one',
          },
        ],
      },
    ),
  );
  expect(text).toBe(
    `
Environment shop/feature  ready
└─ Subset shop/cart  running
   ├─ Deployment shop/cart-shop-feature  running  1/1 pods ready, app=cart:2
   ├─ DestinationRule shop/cart-shop-feature-cart  running
   └─ VirtualService shop/cart  running
      └─ Route dynamic-environment-shop-feature-cart-0123456789  running  end-user=alice,uri prefix /x → cart/shop-feature

Requests  end-user=alice
Try       curl -H 'end-user: alice' http://cart.shop:9080/x

Events
    30s  Ready  1 of 1 subsets and consumers are ready`.trimStart(),
  );
});

test('a clone that is not ready shows why, from its conditions and pods', () => {
  const pods = [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p1' },
      status: {
        containerStatuses: [
          {
            name: 'app',
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
            lastState: { terminated: { reason: 'Error', exitCode: 1 } },
          },
          { name: 'helper', state: { waiting: { reason: 'ContainerCreating' } } },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p2' },
      status: {
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }],
      },
    },
  ];
  const conditions = [
    { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message: 'not enough' },
    { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: 'fine' },
  ];
  const cart = {
    deployment: { name: 'cart-shop-feature', namespace: 'shop', status: 'initializing' },
    virtualServices: [{ name: 'cart', namespace: 'shop', status: 'unknown' }],
    unreached: messages.waitsForClone(60),
  };
  const { environment } = describeEnvironment(
    world(
      { state: 'processing', subsetsStatus: { 'shop/cart': cart } },
      { clones: clone({ conditions }), pods: new Map([['shop/cart-shop-feature', pods]]) },
    ),
  );
  expect(problemsOf(environment)).toEqual([
    'Deployment shop/cart-shop-feature: MinimumReplicasUnavailable: not enough',
    'Deployment shop/cart-shop-feature: pod p1, container app: CrashLoopBackOff: back-off, last exit code 1 (Error), restarted 3×',
    'Deployment shop/cart-shop-feature: pod p2: Unschedulable: no room',
    'VirtualService shop/cart: not routed yet: its routes wait for the clone for up to 60 s, after which requests fail until it runs',
  ]);
});

test('an error is shown at the object that it is about', () => {
  const error = (text: string) => [{ error: text, lastOccurrence: '2026-01-01T00:00:00Z' }];
  const cart = {
    deployment: { name: '', namespace: '', status: 'unknown' },
    subsetErrors: {
      deployment: error('no base'),
      destinationRule: error('no rule'),
      virtualServices: error('no routes'),
      subset: error('no host'),
    },
  };
  expect(lines(world({ state: 'degraded', subsetsStatus: { 'shop/cart': cart } }))).toBe(
    `
Environment shop/feature  degraded
└─ Subset shop/cart  degraded
   │  ! no host
   ├─ Deployment shop/cart-shop-feature  missing
   │     ! no base
   ├─ DestinationRule of the base  missing
   │     ! no rule
   └─ VirtualService of the base  missing
         ! no routes

Requests  end-user=alice`.trimStart(),
  );
});

test('a problem of the whole environment is shown at the top', () => {
  const reasonsOf = (of: EnvironmentWorld): unknown => describeEnvironment(of).environment.reasons;
  const stalled = (reason: string) =>
    world({
      state: 'degraded',
      conditions: [{ type: 'Stalled', status: 'True', reason, message: 'the reason', lastTransitionTime: '' }],
    });
  expect(reasonsOf(world(undefined))).toEqual([
    'no controller has looked at it yet: check that "offshoot run --controllers environments" runs for this cluster',
  ]);
  expect(reasonsOf(world({ state: 'ready', observedGeneration: 0 }))).toEqual([
    'the controller has not observed the latest change yet',
  ]);
  expect(reasonsOf(stalled('NameCollision'))).toEqual(['the reason']);
  expect(reasonsOf(stalled('Degraded'))).toBeUndefined();
  const { env, ...rest } = world({ state: 'ready' });
  const metadata = { ...env.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['A', 'B'] };
  expect(reasonsOf({ env: { ...env, metadata }, ...rest })).toEqual(['waits for the finalizers A, B']);
});

test.each([
  [
    ['DeleteDeployments'],
    'False',
    'draining requests',
    'waits for the finalizers DeleteDeployments: draining requests',
  ],
  [['DeleteDeployments'], 'False', 'removing its objects', 'waits for the finalizers DeleteDeployments'],
  [['DeleteDeployments'], 'True', 'why; and more', 'waits for the finalizers DeleteDeployments: why; and more'],
  [['others.test/hold'], 'True', 'why', 'waits for the finalizers others.test/hold'],
] as const)('the deletion with finalizers %j, Stalled=%s, is reported', (finalizers, is, message, text) => {
  const condition = { reason: 'Deleting', lastTransitionTime: '' };
  const { env, ...rest } = world({
    state: 'degraded',
    conditions: [
      { ...condition, type: 'Ready', status: 'False', message: is === 'True' ? 'the first only' : message },
      { ...condition, type: 'Stalled', status: is, message: is === 'True' ? message : '' },
    ],
  });
  const metadata = { ...env.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers };
  expect(describeEnvironment({ env: { ...env, metadata }, ...rest }).environment.reasons).toEqual([text]);
});

test('an environment that is not isolated, or may not be, says so at the top', () => {
  const isolated = (status: 'True' | 'False' | 'Unknown') =>
    world({
      state: 'ready',
      conditions: [{ type: 'Isolated', status, reason: 'R', message: 'the reason', lastTransitionTime: '' }],
    });
  const reasonsOf = (of: EnvironmentWorld): unknown => describeEnvironment(of).environment.reasons;
  expect(reasonsOf(isolated('True'))).toBeUndefined();
  expect(reasonsOf(isolated('False'))).toEqual(['not isolated: the reason']);
  expect(reasonsOf(isolated('Unknown'))).toEqual(['possibly not isolated: the reason']);
});

describe('the requests to try', () => {
  const ours = (match: HttpMatch): HttpRoute => ({
    name: 'dynamic-environment-shop-feature-cart-0123456789',
    match: [match],
    route: [{ destination: { host: 'cart', subset: 'shop-feature' } }],
  });
  const key = { headers: { 'end-user': { exact: 'alice' } } };
  const virtualService = (name: string, spec: VirtualService['spec']): VirtualService => ({
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name, namespace: 'shop' },
    ...(spec && { spec }),
  });
  const described = (
    services: readonly VirtualService[],
    rest: Partial<EnvironmentWorld> = {},
    status: object = {},
  ): string => {
    const refs = services.map(({ metadata }) => ({ name: metadata.name, namespace: 'shop', status: 'running' }));
    const deployment = { name: 'cart-shop-feature', namespace: 'shop', status: 'running' };
    const cart = { deployment, virtualServices: refs, ...status };
    return lines(
      world(
        { state: 'ready', subsetsStatus: { 'shop/cart': cart } },
        { virtualServices: new Map(services.map((each) => [`shop/${each.metadata.name}`, each])), ...rest },
      ),
    );
  };
  const tries = (text: string): string[] => /^Try {7}(.*)$/ms.exec(text)?.[1]!.split(/\n */) ?? [];
  const gateways = ['istio-system/ingress'];

  test('use the public host and the path of the route at a gateway', () => {
    const http = [ours({ ...key, uri: { prefix: '/cart' } })];
    const edge = virtualService('edge', { hosts: ['shop.example.com', '*.example.org'], gateways, http });
    expect(tries(described([edge]))).toEqual([
      "curl -H 'end-user: alice' http://shop.example.com/cart",
      "curl -H 'end-user: alice' http://any.example.org/cart",
    ]);
  });

  test('use the address of the gateway if the VirtualService is for all hosts', () => {
    const edge = virtualService('edge', { hosts: ['*'], gateways: ['ingress'], http: [ours(key)] });
    expect(tries(described([edge]))).toEqual([
      "curl -H 'end-user: alice' http://$GATEWAY/  # GATEWAY is the address of gateway shop/ingress",
    ]);
  });

  test.each<[string, HttpMatch, HttpMatch, string[]]>([
    ['are none if an earlier route takes all requests', key, { headers: { 'end-user': { prefix: 'al' } } }, []],
    [
      'avoid requests that an earlier route takes',
      { headers: { 'end-user': { prefix: 'al' } } },
      { headers: { 'end-user': { exact: 'al' } } },
      ["curl -H 'end-user: alx' http://cart/"],
    ],
    [
      'have a value that matches the regular expression',
      { headers: { 'end-user': { regex: 'a[l-n]+' } }, method: { exact: 'POST' } },
      { headers: { other: { exact: 'b' } } },
      ["curl -X POST -H 'end-user: al' http://cart/"],
    ],
    [
      'carry only the member of the baggage',
      { headers: { baggage: { regex: baggageRegex('pr-7') } } },
      { headers: { other: { exact: 'b' } } },
      ["curl -H 'baggage: env=pr-7' http://cart/"],
    ],
    [
      'ignore earlier routes that apply to gateways only',
      key,
      { gateways: ['elsewhere'] },
      ["curl -H 'end-user: alice' http://cart/"],
    ],
  ])('%s', (_what, match, earlier, expected) => {
    const first = { name: 'earlier', match: [earlier], route: [{ destination: { host: 'cart', subset: 'b' } }] };
    expect(tries(described([virtualService('cart', { hosts: ['cart'], http: [first, ours(match)] })]))).toEqual(
      expected,
    );
  });

  test('use the hosts of the roots for a delegate', () => {
    const root = virtualService('root', {
      hosts: ['shop.example.com'],
      gateways,
      http: [{ match: [{ uri: { prefix: '/a' } }], delegate: { name: 'delegate' } }],
    });
    const delegate = virtualService('delegate', { http: [ours(key)] });
    expect(tries(described([delegate], { roots: [root, delegate] }))).toEqual([
      "curl -H 'end-user: alice' http://shop.example.com/a",
    ]);
  });

  test('are none for a route that is shadowed by others', () => {
    const first = { ...ours({}), name: 'dynamic-environment-team-other-cart-0123456789' };
    const text = described(
      [virtualService('cart', { hosts: ['cart'], http: [first, ours(key)] })],
      {},
      { unreached: 'all of its requests are taken by environment team/other in VirtualService shop/cart' },
    );
    expect(text).toContain('VirtualService shop/cart  shadowed\n');
    expect(text).toContain('Route dynamic-environment-shop-feature-cart-0123456789  shadowed  ');
    expect(tries(text)).toEqual([]);
  });

  test('list those of an earlier environment as exceptions', () => {
    const byUser = (match: StringMatch): HttpMatch => ({ headers: { 'end-user': match }, uri: { prefix: '/a' } });
    const first = (match: HttpMatch): HttpRoute => ({
      name: 'dynamic-environment-team-other-cart-0123456789',
      match: [match],
      route: [{ destination: { host: 'cart', subset: 'team-other' } }],
    });
    const about = (match: HttpMatch): string =>
      described([virtualService('cart', { hosts: ['cart'], http: [first(match), ours(byUser({ prefix: 'al' }))] })]);
    expect(about(byUser({ exact: 'alice' }))).toContain(
      'Requests  end-user=alice, except end-user=alice (environment team-other)\n',
    );
    // Requests that carry two keys are not listed as an exception.
    expect(about({ headers: { other: { exact: 'x' } } })).toContain('Requests  end-user=alice\n');
  });

  test('are none for a clone that is not ready, whose route is degraded', () => {
    const service = virtualService('cart', { hosts: ['cart'], http: [ours(key)] });
    const text = described([service], {}, { unreached: 'requests fail: no pod of the clone is ready' });
    expect(text).toContain('Route dynamic-environment-shop-feature-cart-0123456789  degraded  ');
    expect(tries(text)).toEqual([]);
  });
});

test.each([
  [[], []],
  [['VirtualService shop/other is not changed'], ['every subset has routes; VirtualService shop/other is not changed']],
])('errors of routes are shown at their subset only, beside %j', (warnings, top) => {
  const why = 'istioMatches[0] is skipped: $& header end-user';
  const message = [messages.hasRoutes, why, ...warnings].join('; ');
  const { environment } = describeEnvironment(
    world({
      state: 'degraded',
      subsetsStatus: {
        'shop/cart': {
          deployment: { name: 'cart-shop-feature', namespace: 'shop', status: 'running' },
          virtualServices: [{ name: 'cart', namespace: 'shop', status: 'running' }],
          subsetErrors: { virtualServices: [{ error: why, lastOccurrence: '2026-01-01T00:00:00Z' }] },
        },
      },
      conditions: [{ type: 'Routed', status: 'True', reason: 'RoutedWithWarnings', message, lastTransitionTime: '' }],
    }),
  );
  expect(environment.reasons ?? []).toEqual(top);
  expect(environment.children?.[0]?.reasons).toEqual([why]);
});

test('a regular expression that Envoy rejects is shown at the top', () => {
  const why = 'istioMatches[0] is skipped: header end-user: regex "(": not valid RE2 (missing closing ): `(`)';
  const unreached = `no route leads to it: ${why}`;
  const { env, ...rest } = world({
    state: 'degraded',
    subsetsStatus: {
      'shop/cart': {
        deployment: { name: 'cart-shop-feature', namespace: 'shop', status: 'running' },
        virtualServices: [{ name: 'cart', namespace: 'shop', status: 'ignored-missing-virtual-service' }],
        subsetErrors: { virtualServices: [{ error: why, lastOccurrence: '2026-01-01T00:00:00Z' }] },
        unreached,
      },
    },
    conditions: [
      {
        type: 'Routed',
        status: 'False',
        reason: 'RoutesMissing',
        message: `shop/cart: ${unreached}`,
        lastTransitionTime: '',
      },
    ],
  });
  const istioMatches = [{ headers: { 'end-user': { regex: '(' } } }];
  const bad = { ...env, spec: { ...env.spec, istioMatches } };
  expect(lines({ env: bad, ...rest, clones: clone({ readyReplicas: 1 }) })).toBe(
    `
Environment shop/feature  degraded
│  ! shop/cart: ${unreached}
└─ Subset shop/cart  degraded
   ├─ Deployment shop/cart-shop-feature  running  1/1 pods ready, app=cart:2
   └─ VirtualService shop/cart  not routed

Requests  end-user~=(`.trimStart(),
  );
});
