// Random worlds of environments and workloads, for properties.
import * as fc from 'fast-check';
import { ASLEEP } from '../../src/environments/lifecycle/sleep.ts';
import { WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import type { KubeObject } from '../../src/kube/index.ts';
import { isInserted } from '../../src/traffic/istio/inserted-routes.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';

// Few names, many of which are prefixes of others, so that there are many conflicts.
const namespace = fc.constantFrom('a', 'b');
const workload = fc.constantFrom('x', 'x-a');
const host = fc.constantFrom('x', 'x-a', 'x.a', 'x.a.svc.cluster.local', 'x-a.b.svc.cluster.local', 'example.com');
const version = fc.constantFrom('shared', 'v1');
const annotations = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  fc.constantFrom('', 'garbage', 'a/e', 'a/e,a/e-f', ' a/e').map((value) => ({
    annotations: { [WATCH_ANNOTATION]: value },
  })),
);
const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });

/** A header value that the strict server refuses in routes. */
const REFUSED = 'refused';

const match = optional({
  headers: fc.dictionary(
    fc.constantFrom('user', 'User'),
    fc.constantFrom({ exact: 'a' }, { exact: REFUSED }, { regex: 'a.*' }, {}),
    { maxKeys: 2 },
  ),
  sourceLabels: fc.dictionary(fc.constant('app'), fc.constant('test')),
});

const override = fc
  .tuple(
    fc.constantFrom('main', 'main', 'main', 'ghost'),
    optional({
      image: fc.constantFrom('', 'new:2'),
      command: fc.array(fc.constant('run'), { maxLength: 1 }),
      env: fc.array(fc.record({ name: fc.constantFrom('A', 'B'), value: fc.constant('1') }), { maxLength: 3 }),
    }),
  )
  .map(([containerName, fields]) => ({ containerName, ...fields }));

const subset = fc
  .tuple(
    fc.constantFrom('x', 'x', 'x-a', 'ghost', ''),
    fc.constantFrom('a', 'a', 'a', 'b', ''),
    optional({
      containers: fc.array(override, { maxLength: 2 }),
      podLabels: fc.constantFrom({}, {}, { tier: 'test' }, { version: 'mine' }),
      replicas: fc.constantFrom(0, 2),
      defaultVersion: fc.constantFrom('', '', 'v1'),
    }),
  )
  .map(([name, within, fields]) => ({ name, namespace: within, ...fields }));

const spec = fc.record({
  istioMatches: fc.array(match, { maxLength: 2 }),
  subsets: fc.array(subset, { maxLength: 3 }),
  consumers: fc.array(subset, { maxLength: 2 }),
});

// The last two have the same version.
export const environment = fc
  .tuple(
    fc.constantFrom('a/e', 'a/e-f', 'a-e/f'),
    fc.option(spec, { nil: undefined, freq: 10 }),
    fc.constantFrom('awake', 'awake', 'awake', 'awake', 'asleep', 'paused'),
  )
  .map(([key, of, mode]) => {
    const [within, name] = key.split('/') as [string, string];
    const paused = of && mode === 'paused' ? { paused: true } : {};
    const meta = mode === 'asleep' ? { annotations: { [ASLEEP]: 'true' } } : {};
    return object('riskified.com/v1alpha1', 'DynamicEnv', within, name, of && { spec: { ...of, ...paused } }, meta);
  });

export const deployment = fc.tuple(namespace, workload, version).map((parts) => workloadOf(...parts));

function workloadOf(within: string, name: string, of: string): KubeObject {
  const labels = { app: name, version: of };
  const containers = [{ name: 'main', image: 'old:1', env: [{ name: 'A', value: '0' }] }];
  return object('apps/v1', 'Deployment', within, name, {
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
}

/** Another Deployment or rule with the name of one of an environment. */
export const squatter = fc
  .tuple(namespace, fc.constantFrom('x-a-e', 'x-a-a-e-f', 'x-a-e-x'), annotations, fc.boolean())
  .map(([within, name, meta, isRule]) =>
    isRule
      ? object('networking.istio.io/v1beta1', 'DestinationRule', within, name, { spec: { host: 'x' } }, meta)
      : object(
          'apps/v1',
          'Deployment',
          within,
          name,
          { spec: { selector: {}, template: { metadata: {}, spec: { containers: [] } } } },
          meta,
        ),
  );

/** A clone or rule that another program made for an environment, with additional fields. */
export const originals = fc
  .tuple(fc.constantFrom('a/e', 'a/e-f'), workload, fc.boolean(), fc.boolean())
  .map(([key, name, isRule, isOlder]) => {
    const label = key.replace('/', '-');
    const meta = { annotations: { [WATCH_ANNOTATION]: key, legacy: 'yes' }, labels: { legacy: 'yes' } };
    if (isRule) {
      const rule = ruleOf('a', `${name}-${label}-${name}`, name, label, meta) as KubeObject & { spec: object };
      return { ...rule, spec: { ...rule.spec, trafficPolicy: { tls: { mode: 'DISABLE' } } } } as KubeObject;
    }
    const { spec, ...clone } = workloadOf('a', name, label) as KubeObject & { spec: { template: object } };
    const more = { minReadySeconds: 5, ...(isOlder && { paused: true }) };
    return { ...clone, metadata: { ...clone.metadata, name: `${name}-${label}`, ...meta }, spec: { ...spec, ...more } };
  });

/** A squatter without the annotation. */
export const unmarked = squatter.filter(({ metadata }) => metadata.annotations === undefined);

export const service = fc
  .tuple(namespace, workload, fc.constantFrom({}, { app: 'x' }, { app: 'x-a' }, { app: 'x', version: 'shared' }))
  .map(([within, name, selector]) => object('v1', 'Service', within, name, { spec: { selector } }));

export const rule = fc
  .tuple(namespace, fc.constantFrom('r1', 'r2', 'r3'), host, version, annotations)
  .map((parts) => ruleOf(...parts));

function ruleOf(within: string, name: string, of: string, label: string, meta: object = {}): KubeObject {
  const spec = { host: of, subsets: [{ name: label, labels: { version: label } }] };
  return object('networking.istio.io/v1beta1', 'DestinationRule', within, name, { spec }, meta);
}

const route = fc.oneof(
  fc.record(
    {
      match: fc.array(match, { maxLength: 2 }),
      route: fc.array(
        fc.record(
          { destination: fc.record({ host, subset: version }), weight: fc.nat(100) },
          { requiredKeys: ['destination'] },
        ),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: ['route'] },
  ),
  fc.record({
    delegate: fc.record({ name: fc.constantFrom('v1', 'v2', 'ghost'), namespace }, { requiredKeys: ['name'] }),
  }),
);

export const virtualService = fc
  .tuple(
    namespace,
    fc.constantFrom('v1', 'v2'),
    fc.array(host, { maxLength: 3 }),
    fc.constantFrom({}, {}, { gateways: ['mesh'] }, { gateways: ['edge/public'] }, { gateways: ['mesh', 'public'] }),
    fc.array(route, { maxLength: 3 }),
    annotations,
  )
  .map(([within, name, hosts, bound, http, meta]) =>
    object('networking.istio.io/v1beta1', 'VirtualService', within, name, { spec: { hosts, ...bound, http } }, meta),
  );

const kinds = [environment, deployment, service, rule, virtualService] as const;

/** Everything that is needed to reach x, so that most worlds have a working environment. */
const working = fc.tuple(
  fc.constant(workloadOf('a', 'x', 'shared')),
  fc.constant(object('v1', 'Service', 'a', 'x', { spec: { selector: { app: 'x' } } })),
  fc.constant(ruleOf('a', 'base', 'x', 'shared')),
  fc.array(route, { maxLength: 2 }).map((others) => {
    const http = [...others, { route: [{ destination: { host: 'x', subset: 'shared' } }] }, ...others];
    return object('networking.istio.io/v1beta1', 'VirtualService', 'a', 'v', { spec: { hosts: ['x'], http } });
  }),
);

export const world = fc
  .tuple(...kinds.map((each) => fc.array(each, { minLength: 1, maxLength: 3 })), working)
  .map((lists) => lists.flat());

function object(apiVersion: string, kind: string, within: string, name: string, rest: object = {}, meta: object = {}) {
  return { apiVersion, kind, metadata: { name, namespace: within, ...meta }, ...rest } as KubeObject;
}

/** Why the strict server refuses an object: routes of an environment ask for the refused value. */
export function refusalOf(object: KubeObject): string | undefined {
  const { http = [] } = (object as { spec?: { http?: readonly HttpRoute[] } }).spec ?? {};
  const refused = http.find((each) => isInserted(each) && JSON.stringify(each.match ?? []).includes(REFUSED));
  return refused && `denied the request: ${refused.name}`;
}
