// Every `testdata/NAME.in.yaml` has the facts; `NAME.out.yaml` the objects to apply and to remove.
// `UPDATE_GOLDEN=1 npx vitest run src/mesh` rewrites the outputs: review the diff.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { goldenOf } from '../../../test/support/golden.ts';
import type { Istio } from '../../api/istio.ts';
import type { AnyObject } from '../../kube/index.ts';
import { UPDATED_AT } from '../names.ts';
import { partialReferer, userFilterWarning, userGatewayFilter } from './envoy-filters.ts';
import { meshResources, withUpdatedAt } from './resources.ts';
import type { ResourceFacts } from './resources.ts';

const DIR = path.join(import.meta.dirname, 'testdata');

function factsOf(name: string): ResourceFacts {
  const {
    about: _,
    metadata,
    spec,
    ...facts
  } = parse(readFileSync(path.join(DIR, `${name}.in.yaml`), 'utf8')) as {
    readonly about: string;
    readonly metadata?: Partial<Istio['metadata']>;
    readonly spec?: Istio['spec'];
  } & Partial<ResourceFacts>;
  const istio: Istio = {
    apiVersion: 'operator.kyma-project.io/v1alpha2',
    kind: 'Istio',
    metadata: { name: 'default', namespace: 'kyma-system', uid: 'uid-1', ...metadata },
    spec,
  };
  return { istio, istioVersion: '1.31.0', operatorVersion: '0.1.0', proxyProtocol: false, ...facts };
}

const refOf = ({ kind, metadata }: AnyObject): string => `${kind} ${metadata.namespace}/${metadata.name}`;

const names = readdirSync(DIR)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''));

test.each(names)('meshResources for %s matches its golden output', (name) => {
  const { apply, remove } = meshResources(factsOf(name));
  const text = stringify({ apply, remove: remove.map(refOf) }, { lineWidth: 0, aliasDuplicateObjects: false });
  expect(text).toBe(goldenOf(text, path.join(DIR, `${name}.out.yaml`)));
});

test('meshResources never applies and removes the same object', () => {
  for (const name of names) {
    const { apply, remove } = meshResources(factsOf(name));
    const applied = new Set(apply.map(refOf));
    expect(remove.map(refOf).filter((each) => applied.has(each))).toEqual([]);
  }
});

describe('the annotation updatedAt of an EnvoyFilter', () => {
  const now = Date.parse('2026-02-03T04:05:06.789Z');
  const updatedAt = (object: AnyObject): string | undefined => object.metadata.annotations?.[UPDATED_AT];
  const live = withUpdatedAt(partialReferer(), undefined, now);

  test('is the current time in seconds when it is created', () => {
    expect(updatedAt(live)).toBe('2026-02-03T04:05:06Z');
  });

  test('is kept while nothing differs', () => {
    expect(updatedAt(withUpdatedAt(partialReferer(), live, now + 60_000))).toBe('2026-02-03T04:05:06Z');
  });

  test('is the current time when it is changed, or if it is missing', () => {
    const changed = { ...live, spec: { configPatches: [] } };
    expect(updatedAt(withUpdatedAt(partialReferer(), changed, now + 60_000))).toBe('2026-02-03T04:06:06Z');
    expect(updatedAt(withUpdatedAt(partialReferer(), partialReferer(), now + 60_000))).toBe('2026-02-03T04:06:06Z');
  });

  test('is not set on other kinds', () => {
    const other = { ...partialReferer(), kind: 'Gateway' };
    expect(withUpdatedAt(other, undefined, now)).toBe(other);
  });
});

describe('userGatewayFilter', () => {
  const filter = (name: string, labels: Record<string, string>, metadata: Partial<AnyObject['metadata']> = {}) => ({
    ...partialReferer(),
    metadata: { name, namespace: 'istio-system', ...metadata },
    spec: { workloadSelector: { labels } },
  });

  test('finds the first filter by name, with either label of the gateway', () => {
    const [a, b] = [filter('a', { app: 'istio-ingressgateway' }), filter('b', { istio: 'ingressgateway' })];
    expect(userGatewayFilter([b, a])).toBe(a);
    expect(userFilterWarning([b, a])).toMatchObject({
      state: 'Warning',
      description:
        'misconfigured EnvoyFilter can potentially break Istio Ingress Gateway: user-created EnvoyFilter istio-system/a targeting Ingress Gateway found',
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'IngressTargetingUserResourceFound', status: 'True' },
      ],
      retry: 3600,
    });
  });

  test.each([
    ['of our own', filter('a', { istio: 'ingressgateway' }, { labels: { 'kyma-project.io/module': 'istio' } })],
    [
      'of a rate limit',
      filter(
        'a',
        { istio: 'ingressgateway' },
        { ownerReferences: [{ apiVersion: 'v1', kind: 'RateLimit', name: 'r', uid: 'u' }] },
      ),
    ],
    ['for other workloads', filter('a', { app: 'shop' })],
    ['in another namespace', filter('a', { istio: 'ingressgateway' }, { namespace: 'shop' })],
    ['for all workloads', { ...partialReferer(), spec: {} }],
  ])('ignores a filter %s', (_what, each) => {
    expect(userFilterWarning([each])).toBeUndefined();
  });
});
