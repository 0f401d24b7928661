// What a translation costs: a large mesh, and how the time grows with its pods.
import { BACKENDS, decodeSnapshot, translate } from '../src/routing/index.ts';
import type { Source, TranslateOptions } from '../src/routing/index.ts';
import { interleave, median, note, ratio, table, target } from './support.ts';

const SERVICES = 1_000;
const PODS = 10_000;
const RULES = 1_000;
const MOST_MS = 300;
const OPTIONS: TranslateOptions = { mode: 'strict', allowAll: true };
/** Ten times the pods may take this many times as long. */
const MOST_GROWTH = 12;

const meshRef = { name: 'store', namespace: 'mesh-system' };
const upstreamRef = (i: number) => ({ name: `s${i}-80`, namespace: 'gloo-system' });
const namespaceOf = (service: number): string => `ns${service % 20}`;

function object(apiVersion: string, kind: string, metadata: object, spec: object): Source {
  return { object: { apiVersion, kind, metadata, spec }, where: () => 'here' };
}

/** A mesh whose pods are spread over its services; each rule divides requests to one of them among three. */
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

function translated(sources: readonly Source[]): void {
  const { snapshot } = decodeSnapshot(sources);
  const { meshes } = translate(snapshot, BACKENDS['appmesh-api'], OPTIONS);
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
const passed = table('routing rules to AWS App Mesh', [
  target(`${SERVICES} services, ${PODS} pods, ${RULES} rules`, median(times.large), MOST_MS, 'atMost', ' ms'),
  note('100 pods', median(times.fewest), ' ms'),
  note('1,000 pods', median(times.some), ' ms'),
  note('10,000 pods', median(times.most), ' ms'),
  target('1,000 pods to 10,000 pods', ratio(times.most, times.some), MOST_GROWTH, 'atMost'),
]);
process.exit(passed ? 0 : 1);
