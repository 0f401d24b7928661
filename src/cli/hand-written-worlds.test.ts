// Hand-written manifests: if fields are missing or have another type, each command with `--world` still answers, or
// names the invalid field.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { baggageRegex } from '../traffic/baggage.ts';
import { doctorCommand } from './doctor/command.ts';
import { planCommand } from './env/command.ts';
import { CommandFailed } from './exit.ts';
import { explainCommand } from './explain/command.ts';
import { programWith } from './program.ts';
import { proveCommand } from './prove/command.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [field: string]: Json };

const ISTIO = 'networking.istio.io/v1beta1';
const labels = (version: string): Json => ({ app: 'cart', version });
const named = (name: string, more: Readonly<Record<string, Json>> = {}): Json => ({ name, namespace: 'shop', ...more });
const OWNED = { annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' } };
const CLONE = 'cart-shop-pr-7';

const deployment = (name: string, version: string, more: Readonly<Record<string, Json>> = {}): Json => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: named(name, { generation: 2, labels: { app: 'cart' }, ...more }),
  spec: {
    replicas: 1,
    selector: { matchLabels: labels(version) },
    template: {
      metadata: { labels: labels(version), annotations: { a: 'b' } },
      spec: {
        containers: [{ name: 'cart', image: 'cart:1', command: ['run'], env: [{ name: 'A', value: 'b' }], ports: [] }],
        initContainers: [{ name: 'init', image: 'init:1' }],
        volumes: [{ name: 'v', configMap: { name: 'c' } }],
      },
    },
  },
  status: {
    observedGeneration: 2,
    readyReplicas: 1,
    conditions: [{ type: 'Available', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
});

/** A ready environment and the objects around it. */
const WORLD: readonly Json[] = [
  {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: named('pr-7', {
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['riskified.com/dynamic-environment'],
      annotations: { 'offshoot.dev/extended-until': '2999-01-01T00:00:00Z' },
      labels: { team: 'blue' },
    }),
    spec: {
      key: 'pr-7',
      ttl: { duration: '8h', from: 'Updated' },
      routing: { waitForReady: true },
      subsets: [
        {
          name: 'cart',
          namespace: 'shop',
          podLabels: { a: 'b' },
          replicas: 1,
          containers: [{ containerName: 'cart', image: 'cart:2', command: ['x'], env: [{ name: 'A', value: 'c' }] }],
          initContainers: [{ containerName: 'init', image: 'init:2' }],
          defaultVersion: 'shared',
        },
      ],
      consumers: [{ name: 'worker', namespace: 'shop', containers: [{ containerName: 'w', image: 'w:2' }] }],
    },
    status: {
      state: 'ready',
      totalCount: 2,
      totalReady: 1,
      observedGeneration: 1,
      specUpdatedAt: '2026-01-01T00:00:00Z',
      expiresAt: '2999-01-01T00:00:00Z',
      subsetsStatus: {
        'shop/cart': {
          deployment: { name: CLONE, namespace: 'shop', status: 'running' },
          destinationRules: [{ name: `${CLONE}-cart`, namespace: 'shop', status: 'running' }],
          virtualServices: [{ name: 'cart', namespace: 'shop', status: 'running' }],
          subsetErrors: { deployment: [{ error: 'x', lastOccurrence: '2026-01-01T00:00:00Z' }] },
          unreached: 'not routed yet',
          hash: 7,
        },
        'shop/gone': { deployment: { name: 'gone-shop-pr-7', namespace: 'shop', status: 'running' } },
      },
      consumersStatus: {
        'shop/worker': { name: 'worker-shop-pr-7', namespace: 'shop', status: 'running', errors: [], hash: 1 },
      },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Ready',
          message: 'fine',
          lastTransitionTime: '2026-01-01T00:00:00Z',
          observedGeneration: 1,
        },
        {
          type: 'Draining',
          status: 'True',
          reason: 'Draining',
          message: 'x',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  },
  deployment('cart', 'shared'),
  deployment(CLONE, 'shop-pr-7', OWNED),
  deployment('worker', 'shared'),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named('cart'),
    spec: { type: 'ClusterIP', clusterIP: '10.0.0.1', selector: { app: 'cart' }, ports: [{ name: 'http', port: 80 }] },
  },
  {
    apiVersion: ISTIO,
    kind: 'DestinationRule',
    metadata: named('cart'),
    spec: { host: 'cart', exportTo: ['*'], subsets: [{ name: 'shared', labels: { version: 'shared' } }] },
  },
  {
    apiVersion: ISTIO,
    kind: 'DestinationRule',
    metadata: named(`${CLONE}-cart`, OWNED),
    spec: { host: 'cart', subsets: [{ name: 'shop-pr-7', labels: { version: 'shop-pr-7' } }] },
  },
  {
    apiVersion: ISTIO,
    kind: 'VirtualService',
    metadata: named('cart', { annotations: { 'riskified.com/dynamic-environment': 'shop/pr-7' } }),
    spec: {
      hosts: ['cart', 'shop.example.com'],
      gateways: ['mesh', 'edge'],
      http: [
        {
          name: 'dynamic-environment-shop-pr-7-cart-0123456789',
          match: [{ headers: { baggage: { regex: baggageRegex('pr-7') } }, uri: { prefix: '/' } }],
          route: [{ destination: { host: 'cart', subset: 'shop-pr-7' }, headers: { response: { add: { a: 'b' } } } }],
        },
        {
          match: [{ uri: { prefix: '/api' }, sourceLabels: { app: 'web' } }],
          route: [{ destination: { host: 'cart', subset: 'shared', port: { number: 80 } }, weight: 100 }],
          retries: { attempts: 2 },
          timeout: '3s',
        },
        { route: [{ destination: { host: 'cart', subset: 'shared' } }] },
      ],
      tls: [{ match: [{ sniHosts: ['shop.example.com'] }], route: [{ destination: { host: 'cart' }, weight: 100 }] }],
      tcp: [{ route: [{ destination: { host: 'cart', subset: 'shared', port: { number: 9000 } } }] }],
    },
    status: { conditions: [{ type: 'Reconciled', status: 'True', message: '1/1' }], observedGeneration: 1 },
  },
  {
    apiVersion: ISTIO,
    kind: 'Gateway',
    metadata: named('edge'),
    spec: {
      selector: { istio: 'edge' },
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    },
  },
  {
    apiVersion: ISTIO,
    kind: 'ServiceEntry',
    metadata: named('outside'),
    spec: {
      hosts: ['outside.example.com'],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      workloadSelector: { labels: { app: 'cart' } },
    },
  },
  {
    apiVersion: ISTIO,
    kind: 'Sidecar',
    metadata: named('default'),
    spec: { workloadSelector: { labels: { app: 'web' } }, egress: [{ hosts: ['*/*'] }] },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: named(`${CLONE}-1`, {
      labels: labels('shop-pr-7'),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: CLONE, uid: '1', controller: true }],
    }),
    spec: { containers: [{ name: 'cart' }] },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [
        {
          name: 'cart',
          ready: false,
          restartCount: 3,
          state: { waiting: { reason: 'ImagePullBackOff', message: 'x' } },
        },
      ],
      initContainerStatuses: [{ name: 'init', lastState: { terminated: { reason: 'Error', exitCode: 1 } } }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: named('cart.1'),
    involvedObject: { kind: 'Pod', name: `${CLONE}-1`, namespace: 'shop' },
    reason: 'FailedMount',
    message: 'x',
    lastTimestamp: '2026-01-01T00:00:00Z',
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: named('cart'),
    spec: {
      selector: { matchLabels: { app: 'cart' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
    },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: named('cart'),
    spec: { podSelector: { matchLabels: { app: 'cart' } } },
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: named('cart'),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cart' },
      metrics: [{ type: 'Resource' }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'istio', namespace: 'istio-system' },
    data: { mesh: 'rootNamespace: istio-system\n' },
  },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { 'istio-injection': 'enabled' } } },
];

type Path = readonly (string | number)[];

/** The paths of all fields and items of a value. */
function pathsIn(value: Json, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const parts: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return [at, ...parts.flatMap(([key, part]) => pathsIn(part, [...at, key]))];
}

/** A copy with the value at a path replaced, or removed. */
function replaced(value: Json, [key, ...rest]: Path, by: Json | undefined): Json {
  if (Array.isArray(value)) {
    return value.flatMap((item: Json, i) =>
      i !== key ? [item] : rest.length > 0 ? [replaced(item, rest, by)] : by === undefined ? [] : [by],
    );
  }
  const { [String(key)]: there, ...others } = value as Record<string, Json>;
  const part = rest.length > 0 ? replaced(there!, rest, by) : by;
  return part === undefined ? others : { ...others, [String(key)]: part };
}

const PATHS = pathsIn(WORLD).filter((each) => each.length >= 2);

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-worlds-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  for (const each of ['log', 'error'] as const) vi.spyOn(console, each).mockReturnValue();
});

/** The unexpected errors of the commands, each with its command line. */
async function crashesIn(objects: Json): Promise<readonly string[]> {
  const world = path.join(dir, 'world.json');
  writeFileSync(world, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  const at = ['--world', world, '-n', 'shop'];
  const commands = [
    ['explain', 'http://cart.shop/api', '--why-not', 'pr-7', ...at],
    ['prove', ...at],
    ['doctor', ...at],
    ['plan', ...at],
    ['plan', '--delete', 'pr-7', ...at],
  ];
  const crashes: string[] = [];
  for (const words of commands) {
    try {
      await programWith([explainCommand(), proveCommand(), doctorCommand(), planCommand()]).parseAsync(words, {
        from: 'user',
      });
    } catch (error) {
      if (!(error instanceof CommandFailed)) crashes.push(`${words.join(' ')}: ${(error as Error).stack}`);
    }
  }
  return crashes;
}

test('no command crashes if one field is missing or has another type', { timeout: 120_000 }, async () => {
  expect(await crashesIn(WORLD)).toEqual([]);
  const other = fc.constantFrom<Json | undefined>(undefined, undefined, null, {}, [], 'x', '', 7, true, [{}], [null], {
    a: {},
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PATHS), other, async (fieldPath, by) => {
      expect([fieldPath, by, ...(await crashesIn(replaced(WORLD, fieldPath, by)))]).toEqual([fieldPath, by]);
    }),
    { numRuns: 60 },
  );
});
