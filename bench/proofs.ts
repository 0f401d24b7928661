// Measures the cost of proving environments that share a VirtualService: one of them, all of them, and again after a
// change; and how it grows with the cluster and with their number, also where each has its own workload.
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { factsOf, Reads } from '../src/controller/index.ts';
import { defaultSettings, environmentTables, proveEnvironment } from '../src/environments/index.ts';
import { isolatedIn } from '../src/environments/proofs/isolated.ts';
import type { KubeObject, Tables } from '../src/kube/index.ts';
import { tablesOf } from '../src/kube/tables/of-objects.ts';
import { baggageRegex } from '../src/traffic/baggage.ts';
import { VirtualService } from '../src/traffic/istio/objects.ts';
import { untracked } from '../src/watchable/index.ts';
import { interleave, median, note, timedByCpu, ratio, table, target } from './support.ts';
import type { CpuTimed, Row } from './support.ts';

const [ROUNDS, WARM_UPS] = [5, 2];
const ENVIRONMENTS = 100;
const SERVICES = 1_000;
const MOST_ONE_MS = 50;
const MOST_ALL_MS = 2_000;
/** Ten times as many environments may take this many times as long: the cost of one hardly grows with the others. */
const MOST_GROWTH = 14;
/** A cluster that is a hundred times as large may slow down a proof by at most this factor. */
const MOST_WORLD = 2;

const ISTIO = 'networking.istio.io/v1beta1';
const WATCH = 'riskified.com/dynamic-environment';

function object(apiVersion: string, kind: string, name: string, rest: object): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop' }, ...rest };
}

/** A workload with its Service, DestinationRule and VirtualService, including routes of environments. */
function service(name: string, routes: readonly object[] = []): readonly KubeObject[] {
  const labels = { app: name, version: 'shared' };
  const main = { route: [{ destination: { host: name, subset: 'shared' } }] };
  return [
    object('v1', 'Service', name, { spec: { selector: { app: name }, ports: [{ name: 'http', port: 80 }] } }),
    object('apps/v1', 'Deployment', name, { spec: { template: { metadata: { labels } } } }),
    object(ISTIO, 'DestinationRule', name, {
      spec: { host: name, subsets: [{ name: 'shared', labels: { version: 'shared' } }] },
    }),
    object(ISTIO, 'VirtualService', name, { spec: { hosts: [name], http: [...routes, main] } }),
  ];
}

/** The objects of an environment of a workload, without its routes. */
function environment(key: string, workload: string): readonly KubeObject[] {
  const version = `shop-${key}`;
  const metadata = (name: string) => ({
    metadata: { name, namespace: 'shop', annotations: { [WATCH]: `shop/${key}` } },
  });
  const labels = { app: workload, version, 'dynamic-env': 'true' };
  return [
    object('riskified.com/v1alpha1', 'DynamicEnv', key, {
      spec: { key, subsets: [{ name: workload, namespace: 'shop' }] },
    }),
    object('apps/v1', 'Deployment', '', {
      ...metadata(`${workload}-${version}`),
      spec: { template: { metadata: { labels } } },
    }),
    object(ISTIO, 'DestinationRule', '', {
      ...metadata(`${workload}-${version}-${workload}`),
      spec: { host: workload, subsets: [{ name: version, labels: { version } }] },
    }),
  ];
}

function routesOf(key: string, workload: string): readonly object[] {
  const matches = [{ 'x-env': { exact: key } }, { baggage: { regex: baggageRegex(key) } }];
  return matches.map((headers, i) => ({
    name: `dynamic-environment-shop-${key}-${workload}-${i}123456789`,
    match: [{ headers }],
    route: [
      {
        destination: { host: workload, subset: `shop-${key}` },
        headers: { response: { add: { 'x-dynamic-env': `${workload}-shop-${key}` } } },
      },
    ],
  }));
}

function keysOf(environments: number): readonly string[] {
  return Array.from({ length: environments }, (_none, i) => `pr-${i}`);
}

/** Environments that share one of many workloads. */
function worldOf(services: number, environments: number): Tables {
  const keys = keysOf(environments);
  const others = Array.from({ length: services - 1 }, (_none, i) => service(`s${i + 1}`));
  const routes = keys.flatMap((key) => routesOf(key, 's0'));
  const objects = [...service('s0', routes), ...others.flat(), ...keys.flatMap((key) => environment(key, 's0'))];
  return tablesOf(environmentTables, objects);
}

/** Environments that each have their own workload. */
function worldApart(environments: number): Tables {
  const objects = keysOf(environments).flatMap((key, i) => [
    ...service(`s${i}`, routesOf(key, `s${i}`)),
    ...environment(key, `s${i}`),
  ]);
  return tablesOf(environmentTables, objects);
}

/** Proves one environment, another in each round, with existing tables. */
function proveOne(services: number): () => void {
  const facts = factsOf(worldOf(services, ENVIRONMENTS), untracked);
  let next = 0;
  return () => {
    const proof = proveEnvironment(facts, { name: `pr-${next++}`, namespace: 'shop' }, defaultSettings);
    if (proof?.verdict !== 'True') throw new Error(proof?.message ?? 'no proof');
  };
}

/** Reads the conditions of all environments, like a controller. */
function readAll(tables: Tables, woken: string[] = []): Reads {
  const reads = new Reads({ tables, now: () => 0, wake: (key) => woken.push(key) });
  for (const { metadata } of tables.of(DynamicEnv).list()) {
    const condition = reads.track(metadata.name, (view) => isolatedIn(view, metadata, defaultSettings));
    if (condition?.status !== 'True') throw new Error(`${metadata.name}: ${condition?.message}`);
  }
  return reads;
}

/** Proves all environments of a new world without caches: each world is used once. */
function proveAll(world: () => Tables): () => void {
  const worlds = Array.from({ length: ROUNDS + WARM_UPS }, world);
  return () => readAll(worlds.pop()!).close();
}

/** The cost of each environment, and how it grows with ten times as many. */
function growth(of: string, measured: readonly CpuTimed[]): readonly Row[] {
  const [few, some, many] = measured.map(({ times: own }) => own());
  return [
    ...SIZES.map((size, i) => note(`${size} ${of}: each`, median(measured[i]!.times()) / size, ' ms')),
    note(`all: 100 ${of} against 10`, ratio(some!, few!), 'x'),
    target(`all: 1,000 ${of} against 100`, ratio(many!, some!), MOST_GROWTH, 'atMost'),
  ];
}

let version = 10_000_000;
/** Changes a VirtualService; records which environments that wakes. */
function change(tables: Tables, name: string): { readonly run: () => void; readonly woken: string[] } {
  const woken: string[] = [];
  const reads = readAll(tables, woken);
  return {
    woken,
    run() {
      woken.length = 0;
      const changing = tables.of(VirtualService).get(`shop/${name}`)!;
      const metadata = { ...changing.metadata, resourceVersion: String(++version) };
      const http = changing.spec!.http!.map((each) => ({ ...each, timeout: `${version}s` }));
      for (const each of tables.holding(VirtualService)) {
        each.observe({ ...changing, metadata, spec: { ...changing.spec, http } });
      }
      reads.deliver();
    },
  };
}

const elsewhere = change(worldOf(SERVICES, ENVIRONMENTS), 's7');
const SIZES = [10, 100, 1_000] as const;
const shared = SIZES.map((count) =>
  timedByCpu(
    proveAll(() => worldOf(10, count)),
    WARM_UPS,
  ),
);
const apart = SIZES.map((count) =>
  timedByCpu(
    proveAll(() => worldApart(count)),
    WARM_UPS,
  ),
);
const candidates = {
  one10: proveOne(10),
  one100: proveOne(100),
  one1000: proveOne(SERVICES),
  all: proveAll(() => worldOf(SERVICES, ENVIRONMENTS)),
  ...Object.fromEntries([...shared, ...apart].map(({ run }, i) => [`all${i}`, run])),
  elsewhere: elsewhere.run,
};
const times = await interleave(ROUNDS, candidates, WARM_UPS);
if (elsewhere.woken.length > 0) throw new Error(`woken by another VirtualService: ${elsewhere.woken.join(', ')}`);

const isMet = table(`proofs of ${ENVIRONMENTS} environments on one of ${SERVICES} VirtualServices`, [
  target('one environment', median(times.one1000), MOST_ONE_MS, 'atMost', ' ms'),
  target('all of them', median(times.all), MOST_ALL_MS, 'atMost', ' ms'),
  note('a VirtualService elsewhere changes: nobody is woken', median(times.elsewhere), ' ms'),
  target('one: 1,000 VirtualServices against 10', ratio(times.one1000, times.one10), MOST_WORLD, 'atMost'),
  note('one: 100 VirtualServices against 10', ratio(times.one100, times.one10), 'x'),
  ...growth('of one workload', shared),
  ...growth('of a workload each', apart),
]);
process.exit(isMet ? 0 : 1);
