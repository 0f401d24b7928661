// Measures the translation of routing rules: a large mesh, and how the time grows with its pods.
import { Mesh, RoutingRule } from '../src/api/routing.ts';
import { Upstream } from '../src/api/upstream.ts';
import { Reads } from '../src/controller/index.ts';
import { Tables } from '../src/kube/index.ts';
import type { AnyKind, KubeObject } from '../src/kube/index.ts';
import { routingModels } from '../src/routing/models/index.ts';
import { partsIn } from '../src/routing/models/parts.ts';
import { Pod } from '../src/routing/objects.ts';
import { BACKENDS, decodeSnapshot, translate } from '../src/routing/index.ts';
import type { Source, TranslateOptions } from '../src/routing/index.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';

const SERVICES = 1_000;
const PODS = 10_000;
const RULES = 1_000;
const MOST_MS = 300;
const OPTIONS: TranslateOptions = { mode: 'strict', allowAll: true };
/** Ten times as many pods may take this many times as long. */
const MOST_GROWTH = 12;
/** One changed rule must be at least this many times cheaper than translating everything again. */
const LEAST_GAIN = 5;

const meshRef = { name: 'store', namespace: 'mesh-system' };
const upstreamRef = (i: number) => ({ name: `s${i}-80`, namespace: 'gloo-system' });
const namespaceOf = (service: number): string => `ns${service % 20}`;

function object(apiVersion: string, kind: string, metadata: object, spec: object): Source {
  return { object: { apiVersion, kind, metadata, spec }, where: () => 'here' };
}

/** A mesh with pods distributed over its services; each rule splits the requests of one service among three. */
function world(services: number, pods: number, rules: number): Source[] {
  const of = (count: number, make: (i: number) => Source): Source[] => Array.from({ length: count }, (_, i) => make(i));
  return [
    object('supergloo.solo.io/v1', 'Mesh', meshRef, { awsAppMesh: {} }),
    ...of(services, (i) =>
      object('gloo.solo.io/v1', 'Upstream', upstreamRef(i), {
        kube: { serviceName: `s${i}`, serviceNamespace: namespaceOf(i), servicePort: 80, selector: { app: `s${i}` } },
      }),
    ),
    ...of(pods, (i) => {
      const service = i % services;
      const labels = { app: `s${service}`, version: 'v1', 'pod-template-hash': `h${service}` };
      const node = { name: 'APPMESH_VIRTUAL_NODE_NAME', value: `mesh/store/virtualNode/s${service}` };
      return object(
        'v1',
        'Pod',
        { name: `s${service}-${i}`, namespace: namespaceOf(service), labels },
        {
          containers: [
            { name: 'app', env: [{ name: 'A', value: 'b' }] },
            { name: 'envoy', env: [node] },
          ],
          initContainers: [{ name: 'init', env: [{ name: 'APPMESH_APP_PORTS', value: '80' }] }],
        },
      );
    }),
    ...of(rules, (i) =>
      object(
        'supergloo.solo.io/v1',
        'RoutingRule',
        { name: `r${i}`, namespace: 'mesh-system' },
        {
          targetMesh: meshRef,
          destinationSelector: { labelSelector: { labelsToMatch: { app: `s${i % services}` } } },
          requestMatchers: [{ prefix: `/${i}` }, { prefix: '/' }],
          spec: {
            trafficShifting: {
              destinations: {
                destinations: [0, 1, 2].map((n) => ({
                  destination: { upstream: upstreamRef((i + n) % services) },
                  weight: n + 1,
                })),
              },
            },
          },
        },
      ),
    ),
  ];
}

function translated(sources: readonly Source[], to: 'appmesh-api' | 'appmesh-crd' = 'appmesh-api'): void {
  const { snapshot } = decodeSnapshot(sources);
  const { meshes } = translate<unknown>(snapshot, BACKENDS[to], OPTIONS);
  if (meshes[0]?.error !== undefined) throw new Error(meshes[0].error.message);
}

const large = world(SERVICES, PODS, RULES);
const sizes = { fewest: world(100, 100, 100), some: world(100, 1_000, 100), most: world(100, 10_000, 100) };
const times = await interleave(15, {
  large: () => translated(large),
  fewest: () => translated(sizes.fewest),
  some: () => translated(sizes.some),
  most: () => translated(sizes.most),
});
/** Numbers of rules of a mesh that is updated incrementally after a change of one rule. */
const COUNTS = [10, 100, 1_000] as const;
const kept = COUNTS.map((count) => keepUpToDate(world(count, count, count)));
const changes = await interleave(15, {
  few: () => kept[0]!.change(),
  some: () => kept[1]!.change(),
  many: () => kept[2]!.change(),
  anew: () => kept[2]!.anew(),
});
for (const each of kept) each.close();

/** The translated parts of a mesh as the controller keeps them, with a rule that changes. */
function keepUpToDate(sources: readonly Source[]) {
  const objects = sources.map(({ object: each }, i) => {
    const { metadata, ...rest } = each as KubeObject;
    return { ...rest, metadata: { ...metadata, uid: `${i}`, resourceVersion: '1' } };
  });
  const kinds = [Mesh, RoutingRule, Upstream, Pod] as readonly AnyKind[];
  const tables = new Tables();
  const put = (each: KubeObject): void => tables.of(kinds.find(({ kind }) => kind === each.kind)!).observe(each);
  for (const each of objects) put(each);
  const models = routingModels(OPTIONS);
  const plan = (): unknown =>
    reads.track('mesh', (view) => partsIn(view, models.plans, models.objects, 'mesh-system/store'));
  const reads = new Reads({ tables, now: () => 0, wake: plan });
  plan();
  const rule = objects.find(({ kind }) => kind === 'RoutingRule') as KubeObject & {
    spec: { requestMatchers: object[] };
  };
  let version = 1;
  return {
    change(): void {
      version++;
      const requestMatchers = [{ prefix: `/${version}` }, { prefix: '/' }];
      put({
        ...rule,
        metadata: { ...rule.metadata, resourceVersion: `${version}` },
        spec: { ...rule.spec, requestMatchers },
      } as KubeObject);
      reads.deliver();
    },
    anew: () => translated(sources, 'appmesh-crd'),
    close: () => reads.close(),
  };
}

const passed = table('routing rules to AWS App Mesh', [
  target(`${SERVICES} services, ${PODS} pods, ${RULES} rules`, median(times.large), MOST_MS, 'atMost', ' ms'),
  note('100 pods', median(times.fewest), ' ms'),
  note('1,000 pods', median(times.some), ' ms'),
  note('10,000 pods', median(times.most), ' ms'),
  target('1,000 pods to 10,000 pods', ratio(times.most, times.some), MOST_GROWTH, 'atMost'),
  note('one changed rule of 10', median(changes.few), ' ms'),
  note('one changed rule of 100', median(changes.some), ' ms'),
  note('one changed rule of 1,000', median(changes.many), ' ms'),
  target('all 1,000 anew to one changed rule', ratio(changes.anew, changes.many), LEAST_GAIN, 'atLeast'),
]);
process.exit(passed ? 0 : 1);
