// Measures the cost of routing a request, and how the cost of compiling grows with the cluster.
import { Reads } from '../src/controller/index.ts';
import { Tables } from '../src/kube/index.ts';
import type { KubeObject } from '../src/kube/index.ts';
import { createRouter, prove, routerOf, worldOf, worldTables } from '../src/traffic/index.ts';
import type { Request } from '../src/traffic/index.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';

const SIZES = [10, 100, 1_000] as const;
const REQUESTS = 10_000;
/** Environments with a route on the first host. */
const ENVIRONMENTS = 100;
const MOST_MS = 1_000;
/** Ten times as many VirtualServices may take this many times as long to compile. */
const MOST_GROWTH = 13;

/** One changed VirtualService must be at least this many times cheaper than compiling all of them. */
const LEAST_GAIN = 50;

/** The limit for a proof of one of the environments on the shared VirtualService. */
const MOST_PROOF_MS = 50;

const ISTIO = 'networking.istio.io/v1beta1';

/** Services with a VirtualService and a DestinationRule each; the first has many environments. */
function objects(services: number): readonly KubeObject[] {
  return Array.from({ length: services }, (_none, i): readonly KubeObject[] => {
    const [name, namespace] = [`s${i}`, `ns${i % 20}`];
    const metadata = { name, namespace, creationTimestamp: '2026-01-01T00:00:00Z' };
    const keys = Array.from({ length: i === 0 ? ENVIRONMENTS : 2 }, (_key, key) => `pr-${key}`);
    const object = (apiVersion: string, kind: string, spec: object): KubeObject =>
      ({ apiVersion, kind, metadata, spec }) as KubeObject;
    return [
      object('v1', 'Service', { selector: { app: name }, ports: [{ name: 'http', port: 80 }] }),
      ...['shared', ...keys].map((version) => ({
        ...object('apps/v1', 'Deployment', { template: { metadata: { labels: { app: name, version } } } }),
        metadata: { ...metadata, name: `${name}-${version}` },
      })),
      object(ISTIO, 'DestinationRule', {
        host: name,
        subsets: ['shared', ...keys].map((version) => ({ name: version, labels: { version } })),
      }),
      object(ISTIO, 'VirtualService', {
        hosts: [name],
        http: [
          ...keys.map((key) => ({
            name: `dynamic-environment-${key}-${name}-0123456789`,
            match: [{ headers: { 'x-env': { exact: key } }, uri: { prefix: '/' } }],
            route: [{ destination: { host: name, subset: key } }],
          })),
          { route: [{ destination: { host: name, subset: 'shared' } }] },
        ],
      }),
    ];
  }).flat();
}

function requests(services: number): readonly Request[] {
  return Array.from({ length: REQUESTS }, (_none, i) => ({
    host: `s${i % services}.ns${(i % services) % 20}`,
    port: 80,
    path: `/${i}?q=1`,
    headers: { 'x-env': `pr-${i % (2 * ENVIRONMENTS)}`, accept: '*/*' },
    source: { namespace: 'ns1', labels: { app: 'web' } },
  }));
}

const worlds = SIZES.map((size) => ({ all: objects(size), asked: requests(size) }));
const routers = worlds.map(({ all }) => createRouter(worldOf(all)));
const shared = requests(1);
const decideAll = (at: number, asked = worlds[at]!.asked): void => {
  for (const request of asked) routers[at]!.decide(request);
};
/** Compiles the rules of all hosts from objects. */
const compileAll = (at: number): void => {
  const router = createRouter(worldOf(worlds[at]!.all));
  for (let i = 0; i < SIZES[at]!; i++) router.rulesFor({ namespace: 'ns1' }, `s${i}.ns${i % 20}`, 80);
};

/** A controller that has read all hosts, and a VirtualService that changes. */
function keepUpToDate(at: number) {
  const tables = new Tables(worldTables);
  let version = 0;
  const put = (object: KubeObject): void => {
    const metadata = {
      ...object.metadata,
      uid: `${object.kind} ${object.metadata.name}`,
      resourceVersion: `${++version}`,
    };
    const kind = worldTables.find((each) => each.kind === object.kind)!;
    for (const table of tables.holding(kind)) table.observe({ ...object, metadata });
  };
  for (const each of worlds[at]!.all) put(each);
  const names = Array.from({ length: SIZES[at]! }, (_none, i) => `s${i}.ns${i % 20}`);
  const read = (host: string): unknown =>
    reads.track(host, (view) => routerOf(view).rulesFor({ namespace: 'ns1' }, host, 80));
  const reads = new Reads({ tables, now: () => 0, wake: read });
  for (const name of names) read(name);
  const changing = worlds[at]!.all.findLast(({ kind }) => kind === 'VirtualService')!;
  return () => {
    const spec = { hosts: [changing.metadata.name], http: [{ directResponse: { status: 200 + (version % 2) } }] };
    put({ ...changing, spec } as KubeObject);
    reads.deliver();
  };
}

/** Proves the environment in the middle of those on the first host, against the world without it. */
function proofAt(at: number) {
  const { all } = worlds[at]!;
  const version = `pr-${ENVIRONMENTS / 2}`;
  const [host, ref] = ['s0.ns0.svc.cluster.local', { name: 's0', namespace: 'ns0' }];
  const isOwn = ({ metadata: { name, namespace } }: KubeObject): boolean =>
    namespace === ref.namespace && name === `${ref.name}-${version}`;
  const without = all.filter((each) => !isOwn(each)).map((each) => withoutVersion(each, ref.name, version));
  const [before, after] = [worldOf(without), worldOf(all)];
  const environment = {
    version,
    matches: [{ headers: { 'x-env': { exact: version } } }],
    hosts: [host],
    workloads: [{ hosts: [host], defaultVersion: 'shared' }],
    virtualServices: [ref],
  };
  return () => {
    const { verdict, message } = prove(before, after, environment);
    if (verdict !== 'True') throw new Error(message);
  };
}

/** An object of the first host without the routes and subsets of an environment. */
function withoutVersion(object: KubeObject, service: string, version: string): KubeObject {
  if (object.metadata.name !== service) return object;
  const { spec } = object as KubeObject & { readonly spec: { readonly [list: string]: unknown } };
  const isOthers = (each: unknown): boolean => !JSON.stringify(each).includes(`"${version}"`);
  const lists = ['http', 'subsets'].filter((field) => Array.isArray(spec[field]));
  const kept = lists.map((field) => [field, (spec[field] as readonly unknown[]).filter(isOthers)]);
  return { ...object, spec: { ...spec, ...Object.fromEntries(kept) } } as KubeObject;
}

const proofs = SIZES.map((_size, at) => proofAt(at));
const changes = SIZES.map((_size, at) => keepUpToDate(at));
const times = await interleave(9, {
  few: () => decideAll(0),
  some: () => decideAll(1),
  many: () => decideAll(2),
  shared: () => decideAll(2, shared),
  compileFew: () => compileAll(0),
  compileSome: () => compileAll(1),
  compileMany: () => compileAll(2),
  changeFew: changes[0]!,
  changeSome: changes[1]!,
  changeMany: changes[2]!,
  proveFew: proofs[0]!,
  proveSome: proofs[1]!,
  proveMany: proofs[2]!,
});

const passed = table('where requests go', [
  note('10,000 requests, 10 VirtualServices', median(times.few), ' ms'),
  note('10,000 requests, 100 VirtualServices', median(times.some), ' ms'),
  target('10,000 requests, 1,000 VirtualServices', median(times.many), MOST_MS, 'atMost', ' ms'),
  target('10,000 requests to the host of 100 environments', median(times.shared), MOST_MS, 'atMost', ' ms'),
  note('compiling 10 VirtualServices', median(times.compileFew), ' ms'),
  note('compiling 100 VirtualServices', median(times.compileSome), ' ms'),
  note('compiling 1,000 VirtualServices', median(times.compileMany), ' ms'),
  target('compiling 1,000 to compiling 100', ratio(times.compileMany, times.compileSome), MOST_GROWTH, 'atMost'),
  note('one changed VirtualService of 10', median(times.changeFew), ' ms'),
  note('one changed VirtualService of 100', median(times.changeSome), ' ms'),
  note('one changed VirtualService of 1,000', median(times.changeMany), ' ms'),
  target('compiling all 1,000 to one that changed', ratio(times.compileMany, times.changeMany), LEAST_GAIN, 'atLeast'),
  note('proof of one of 100 environments, 10 VirtualServices', median(times.proveFew), ' ms'),
  note('proof of one of 100 environments, 100 VirtualServices', median(times.proveSome), ' ms'),
  target(
    'proof of one of 100 environments, 1,000 VirtualServices',
    median(times.proveMany),
    MOST_PROOF_MS,
    'atMost',
    ' ms',
  ),
]);
process.exit(passed ? 0 : 1);
