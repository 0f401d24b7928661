// A change recomputes only the derived values that read it, and stops where a result is the same.
import { beforeEach, describe, expect, test } from 'vitest';
import { Mesh, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { Reads } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { appMeshCrd, crdParts } from '../backends/appmesh-crd.ts';
import { Pod } from '../objects.ts';
import { partModels, partsIn } from './parts.ts';
import { planModels } from './plans.ts';
import { ruleReports } from './reports.ts';

const SERVICES = 20;
const MESH = 'ns/store';

let version = 0;
const object = (
  kind: AnyKind,
  name: string,
  fields: object,
  labels?: Readonly<Record<string, string>>,
): KubeObject => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: {
    name,
    namespace: 'ns',
    uid: `${kind.kind} ${name}`,
    resourceVersion: `${++version}`,
    ...(labels && { labels }),
  },
  ...fields,
});

const pod = (service: number, name: string, status: object = {}): KubeObject =>
  object(
    Pod,
    name,
    {
      spec: {
        initContainers: [{ name: 'init', env: [{ name: 'APPMESH_APP_PORTS', value: '80' }] }],
        containers: [
          { name: 'envoy', env: [{ name: 'APPMESH_VIRTUAL_NODE_NAME', value: `mesh/store/virtualNode/s${service}` }] },
        ],
      },
      status,
    },
    { app: `s${service}` },
  );
const upstream = (service: number): KubeObject =>
  object(Upstream, `s${service}`, {
    spec: {
      kube: { serviceName: `s${service}`, serviceNamespace: 'ns', servicePort: 80, selector: { app: `s${service}` } },
    },
  });
const rule = (service: number, weight: number): KubeObject =>
  object(RoutingRule, `r${service}`, {
    spec: {
      targetMesh: { name: 'store', namespace: 'ns' },
      destinationSelector: { upstreamSelector: { upstreams: [{ name: `s${service}`, namespace: 'ns' }] } },
      requestMatchers: [{ prefix: '/' }],
      spec: {
        trafficShifting: {
          destinations: {
            destinations: [
              { destination: { upstream: { name: `s${service}`, namespace: 'ns' } }, weight },
              { destination: { upstream: { name: `s${(service + 1) % SERVICES}`, namespace: 'ns' } }, weight: 1 },
            ],
          },
        },
      },
    },
  });

/** The number of recomputations. */
const counted = { rules: 0, routers: 0, nodes: 0, plans: 0, reports: 0 };
let tables: Tables;
let reads: Reads;

beforeEach(() => {
  tables = new Tables();
  const all = Array.from({ length: SERVICES }, (_, i) => [upstream(i), pod(i, `p${i}`), rule(i, 9)]).flat();
  for (const each of [object(Mesh, 'store', { spec: { awsAppMesh: {} } }), ...all]) put(each);
  const options = { mode: 'strict', allowAll: true } as const;
  const plans = planModels(
    { ...appMeshCrd, limits: (...args) => (counted.rules++, appMeshCrd.limits(...args)) },
    options,
  );
  const objects = partModels(
    plans,
    {
      ...crdParts,
      router: (...args) => (counted.routers++, crdParts.router(...args)),
      nodes: (...args) => (counted.nodes++, crdParts.nodes(...args)),
    },
    'strict',
  );
  const reports = ruleReports(plans);
  const plan = (reader: string): unknown =>
    reads.track(reader, (view) => {
      if (reader === MESH) {
        counted.plans++;
        return partsIn(view, plans, objects, MESH);
      }
      counted.reports++;
      return view.read.get(view.model(reports), reader);
    });
  reads = new Reads({ tables, now: () => 0, wake: plan });
  for (const reader of [MESH, ...Array.from({ length: SERVICES }, (_, i) => `ns/r${i}`)]) plan(reader);
  Object.assign(counted, { rules: 0, routers: 0, nodes: 0, plans: 0, reports: 0 });
});

function put(each: KubeObject): void {
  const kind = [Mesh, RoutingRule, Upstream, Pod].find(({ kind: name }) => name === each.kind)!;
  tables.of<KubeObject>(kind).observe(each);
}

/** Makes a change, and returns the recomputations that it causes. */
function change(each: KubeObject): typeof counted {
  put(each);
  reads.deliver();
  return { ...counted };
}

describe('recomputation', () => {
  test('of a changed rule resolves only this rule, and recreates only its router', () => {
    expect(change(rule(3, 5))).toEqual({ rules: 1, routers: 1, nodes: 0, plans: 1, reports: 0 });
  });

  test('is not triggered by fields of a pod that are not read', () => {
    expect(change(pod(3, 'p3', { phase: 'Failed' }))).toEqual({ rules: 0, routers: 0, nodes: 0, plans: 0, reports: 0 });
  });

  test('is not triggered by another pod of the same virtual node', () => {
    expect(change(pod(3, 'another'))).toEqual({ rules: 0, routers: 0, nodes: 0, plans: 0, reports: 0 });
  });

  test('is not triggered by a pod without a sidecar', () => {
    const plain = object(Pod, 'plain', { spec: { containers: [] } }, { app: 's3' });
    expect(change(plain)).toEqual({ rules: 0, routers: 0, nodes: 0, plans: 0, reports: 0 });
  });

  test('of a rule for a missing mesh affects no mesh', () => {
    const lost = { ...rule(3, 5), metadata: { ...rule(3, 5).metadata, name: 'lost', uid: 'lost' } };
    const spec = { ...(lost as KubeObject & { spec: object }).spec, targetMesh: { name: 'nowhere' } };
    expect(change({ ...lost, spec } as KubeObject)).toMatchObject({ rules: 0, routers: 0, nodes: 0, plans: 0 });
  });
});
