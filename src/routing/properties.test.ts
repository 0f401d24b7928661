// Properties of every translation.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { percentages } from './backends/weights.ts';
import { BACKENDS, decodeSnapshot, translate } from './index.ts';
import type { Mode } from './index.ts';

type Object = Readonly<Record<string, unknown>>;

const meshRef = { name: 'store', namespace: 'mesh-system' };
const MESH: Object = {
  apiVersion: 'supergloo.solo.io/v1',
  kind: 'Mesh',
  metadata: meshRef,
  spec: { awsAppMesh: {} },
};

function pod(app: number, replica: number): Object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `app-${app}-${replica}`, namespace: 'shop', labels: { app: `app-${app}` } },
    spec: {
      containers: [
        { name: 'envoy', env: [{ name: 'APPMESH_VIRTUAL_NODE_NAME', value: `mesh/store/virtualNode/vn-${app}` }] },
      ],
      initContainers: [{ name: 'init', env: [{ name: 'APPMESH_APP_PORTS', value: '80' }] }],
    },
  };
}

function upstream(app: number): Object {
  return {
    apiVersion: 'gloo.solo.io/v1',
    kind: 'Upstream',
    metadata: { name: `app-${app}-80`, namespace: 'gloo-system' },
    spec: {
      kube: { serviceName: `app-${app}`, serviceNamespace: 'shop', servicePort: 80, selector: { app: `app-${app}` } },
    },
  };
}

const ref = (app: number) => ({ name: `app-${app}-80`, namespace: 'gloo-system' });

interface Spec {
  readonly apps: number;
  readonly replicas: readonly number[];
  readonly rules: readonly {
    readonly prefixes: readonly string[];
    readonly hosts: readonly number[];
    readonly split: readonly (readonly [app: number, weight: number])[];
  }[];
}

/** Worlds that both modes translate in the same way: plain prefixes, and a weight above zero for each destination. */
const worlds = fc.integer({ min: 1, max: 5 }).chain((apps): fc.Arbitrary<Spec> => {
  const app = fc.integer({ min: 0, max: apps - 1 });
  const weight = fc.integer({ min: 1, max: 1000 });
  return fc.record({
    apps: fc.constant(apps),
    replicas: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: apps, maxLength: apps }),
    rules: fc.array(
      fc.record({
        prefixes: fc.array(fc.constantFrom('/', '/a', '/a/b', '/c'), { minLength: 1, maxLength: 3 }),
        hosts: fc.array(app, { minLength: 1, maxLength: 3 }),
        split: fc.array(fc.tuple(app, weight), { minLength: 1, maxLength: 4 }),
      }),
      { maxLength: 4 },
    ),
  });
});

function objectsOf({ apps, replicas, rules }: Spec): { others: Object[]; rules: Object[] } {
  const ids = Array.from({ length: apps }, (_, app) => app);
  return {
    others: [
      MESH,
      ...ids.map(upstream),
      ...ids.flatMap((app) => Array.from({ length: replicas[app]! }, (_, replica) => pod(app, replica))),
    ],
    rules: rules.map(({ prefixes, hosts, split }, i) => ({
      apiVersion: 'supergloo.solo.io/v1',
      kind: 'RoutingRule',
      metadata: { name: `rule-${i}`, namespace: 'mesh-system' },
      spec: {
        targetMesh: meshRef,
        destinationSelector: { upstreamSelector: { upstreams: hosts.map(ref) } },
        requestMatchers: prefixes.map((prefix) => ({ prefix })),
        spec: {
          trafficShifting: {
            destinations: {
              destinations: split.map(([app, weight]) => ({ destination: { upstream: ref(app) }, weight })),
            },
          },
        },
      },
    })),
  };
}

function translated(objects: readonly Object[], mode: Mode, allowAll = true) {
  const { snapshot } = decodeSnapshot(objects.map((object) => ({ object, where: () => 'here' })));
  const [result] = translate(snapshot, BACKENDS['appmesh-api'], { mode, allowAll }).meshes;
  return result!;
}

test('translate gives the same output for any order of the objects, except rules', () => {
  const shuffled = worlds.chain((spec) => {
    const { others, rules } = objectsOf(spec);
    return fc.tuple(
      fc.constant([...others, ...rules]),
      fc.shuffledSubarray(others, { minLength: others.length }).map((moved) => [...moved, ...rules]),
      fc.constantFrom<Mode>('compat', 'strict'),
    );
  });
  fc.assert(
    fc.property(shuffled, ([given, moved, mode]) => {
      const { output, diagnostics } = translated(given, mode);
      const again = translated(moved, mode);
      expect(JSON.stringify(again.output)).toBe(JSON.stringify(output));
      expect(again.diagnostics).toEqual(diagnostics);
    }),
  );
});

test('translate gives the same resources in both modes for such worlds', () => {
  fc.assert(
    fc.property(worlds, fc.boolean(), (spec, allowAll) => {
      const { others, rules } = objectsOf(spec);
      const [compat, strict] = (['compat', 'strict'] as const).map((mode) =>
        translated([...others, ...rules], mode, allowAll),
      );
      expect(compat!.error).toBeUndefined();
      expect(strict!.output).toEqual(compat!.output);
    }),
  );
});

test('translate with allow-all lists every service except its own once in the backends of each workload', () => {
  fc.assert(
    fc.property(worlds, (spec) => {
      const { others, rules } = objectsOf(spec);
      const { output } = translated([...others, ...rules], 'strict');
      const services = Object.keys(output!.virtualServices);
      expect(services).toHaveLength(spec.apps);
      for (const node of Object.values(output!.virtualNodes)) {
        const { backends, serviceDiscovery } = (node as { spec: Node }).spec;
        const called = backends.map(({ virtualService }) => virtualService.virtualServiceName);
        expect(called).toEqual(services.filter((host) => host !== serviceDiscovery.dns.hostname));
      }
    }),
  );
});

interface Node {
  readonly backends: readonly { readonly virtualService: { readonly virtualServiceName: string } }[];
  readonly serviceDiscovery: { readonly dns: { readonly hostname: string } };
}

const weights = fc
  .array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 4_294_967_295 })), {
    minLength: 1,
    maxLength: 10,
  })
  .filter((each) => each.some((weight) => weight > 0));

test('percentages sum to 100, and are zero where the weight is zero', () => {
  fc.assert(
    fc.property(weights, (given) => {
      const shares = percentages(given, 'strict');
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(100);
      given.forEach((weight, i) => {
        expect(shares[i]).toBeGreaterThanOrEqual(0);
        expect(weight === 0 && shares[i] !== 0).toBe(false);
      });
    }),
  );
});

test('translate: a rule that is rejected does not affect the others', () => {
  const broken: Object = {
    apiVersion: 'supergloo.solo.io/v1',
    kind: 'RoutingRule',
    metadata: { name: 'broken', namespace: 'mesh-system' },
    spec: { targetMesh: meshRef, requestMatchers: [], spec: { mirror: {} } },
  };
  fc.assert(
    fc.property(worlds, fc.nat(), (spec, place) => {
      const { others, rules } = objectsOf(spec);
      const without = translated([...others, ...rules], 'strict');
      const withIt = translated([...others, ...rules.toSpliced(place % (rules.length + 1), 0, broken)], 'strict');
      expect(withIt.output).toEqual(without.output);
      expect(withIt.diagnostics.map(({ code }) => code)).toContain('RULE_NO_MATCHERS');
    }),
  );
});
