// The statuses that the controllers write in compat mode: texts that users of SuperGloo know.
import { expect, test } from 'vitest';
import { Mesh, MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { Reads } from '../../controller/index.ts';
import type { Plan } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { Pod, Service } from '../objects.ts';
import { routing } from './index.ts';

const apiVersion = 'supergloo.solo.io/v1';
const METADATA = { namespace: 'supergloo-system', uid: 'u', resourceVersion: '1' };
const MESH = {
  apiVersion,
  kind: 'Mesh',
  metadata: { ...METADATA, name: 'mesh' },
  spec: { awsAppMesh: {} },
} as KubeObject;
const rule = (spec: object): KubeObject =>
  ({ apiVersion, kind: 'RoutingRule', metadata: { ...METADATA, name: 'reviews' }, spec }) as KubeObject;

/** The statuses of the mesh and of the rule, once problems have lasted long enough to be reported. */
function statusesWith(given: KubeObject): { readonly mesh: Plan['status']; readonly rule: Plan['status'] } {
  const tables = new Tables();
  for (const kind of [Mesh, MeshGroup, RoutingRule, Upstream, Pod, Service] as readonly AnyKind[]) tables.of(kind);
  tables.of<KubeObject>(Mesh).observe(MESH);
  tables.of<KubeObject>(RoutingRule).observe(given);
  let now = 0;
  const reads = new Reads({ tables, now: () => now, wake: () => undefined });
  const controllers = routing({ mode: 'compat' });
  const statuses = ([MESH, given] as const).map((object) => {
    const controller = controllers.find(({ kind }) => kind.kind === object.kind)!;
    const plan = (): Plan => reads.track(object.kind, (view) => controller.plan(view, object as never));
    now = 0;
    expect(plan().status).toBeUndefined();
    now = 60_000;
    return plan().status;
  });
  reads.close();
  return { mesh: statuses[0], rule: statuses[1] };
}

test('in compat mode, a rule that cannot be translated rejects its mesh, and stays pending itself', () => {
  const statuses = statusesWith(rule({ targetMesh: { name: 'mesh', namespace: 'supergloo-system' } }));
  expect(statuses.mesh).toMatchObject({
    state: 2,
    reported_by: 'appmesh-config-reporter',
    reason:
      '1 error occurred:\n\t* translating mesh config: failed to process routing role supergloo-system.reviews: routing rule supergloo-system.reviews has zero matchers. At least one matcher is required\n\n',
  });
  expect(statuses.rule).toMatchObject({ state: 0 });
});
