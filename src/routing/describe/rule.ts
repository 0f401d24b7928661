// The tree of a rule: its meshes and, in each of them, its hosts, routes and destinations. The desired state is
// translated here, as the controllers do; the actual state comes from the statuses that they have written.
import { Mesh, MeshGroup, RoutingRule } from '../../api/routing.ts';
import { Upstream } from '../../api/upstream.ts';
import { notSeenYet } from '../../api/description/controllers-hint.ts';
import { eventsAbout, recentEvents } from '../../api/description/events.ts';
import type { RecentEvent } from '../../api/description/events.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import { node } from '../../api/description/tree.ts';
import type { TreeNode } from '../../api/description/tree.ts';
import { keyOf } from '../../kube/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { routesOf } from '../backends/appmesh.ts';
import { appMeshCrd } from '../backends/appmesh-crd.ts';
import { decodeSnapshot, pathText, sorted } from '../decode/snapshot.ts';
import type { Diagnostic } from '../errors.ts';
import type { HostRoutes, Route, RuleOutcome } from '../model.ts';
import { sanitize } from '../names.ts';
import { Pod, Service } from '../objects.ts';
import { translate } from '../translate.ts';
import type { Translation } from '../translate.ts';
import { isSeen, problemsOf, stateOf } from './state.ts';

export interface RuleDescription {
  readonly tree: TreeNode;
  readonly events: readonly RecentEvent[];
}

const READ: readonly AnyKind[] = [Mesh, MeshGroup, RoutingRule, Upstream, Pod, Service] as readonly AnyKind[];

export function describeRule(read: ObjectReader, rule: RoutingRule): RuleDescription {
  const objects = READ.flatMap((kind) => read.list(kind, {}));
  const decoded = decodeSnapshot(objects.map((object) => ({ object, where: (at) => pathText(at) })));
  const snapshot = { ...decoded.snapshot, rules: sorted(decoded.snapshot.rules) };
  const { meshes, diagnostics } = translate(snapshot, appMeshCrd, { mode: 'strict', allowAll: true });
  const { name, namespace } = rule.metadata;
  const isIt = ({ rule: ref }: RuleOutcome): boolean => ref.name === name && ref.namespace === namespace;
  const about = ({ object }: Diagnostic): boolean => object === `RoutingRule ${namespace}/${name}`;
  const messages = [...decoded.diagnostics, ...diagnostics]
    .filter(about)
    .map(({ code, message }) => `${code}: ${message}`);
  const statuses = new Map(objects.filter(({ kind }) => kind === 'Mesh').map((each) => [keyOf(each.metadata), each]));
  const children = meshes.flatMap((mesh) => {
    const outcome = mesh.plan.rules.find(isIt);
    return outcome === undefined ? [] : [meshNode(mesh, outcome, statuses.get(keyOf(mesh.plan.mesh)), about)];
  });
  const reasons = isSeen(rule) ? topReasons(rule, children) : [notSeenYet('routing')];
  const tree = node('RoutingRule', keyOf(rule.metadata), stateOf(rule), {
    reasons: [...messages, ...reasons],
    children,
  });
  return { tree, events: recentEvents(eventsAbout(read, rule)) };
}

/** The reasons that are not shown in the nodes below. */
function topReasons(rule: RoutingRule, children: readonly TreeNode[]): readonly string[] {
  return children.length > 0 ? [] : problemsOf(rule);
}

function meshNode(
  { plan, error }: Translation<unknown>,
  outcome: RuleOutcome,
  mesh: KubeObject | undefined,
  about: (diagnostic: Diagnostic) => boolean,
): TreeNode {
  const messages = plan.diagnostics.filter(about).map(({ code, message }) => `${code}: ${message}`);
  const ofMesh = error === undefined ? [] : [`${error.code}: ${error.message}`];
  const routed = plan.hostRoutes.filter(({ host }) => outcome.rejected === undefined && outcome.hosts.includes(host));
  return node('Mesh', keyOf(plan.mesh), mesh === undefined ? 'Pending' : stateOf(mesh), {
    detail: plan.name === plan.mesh.name ? '' : `${plan.name} at AWS`,
    reasons: [
      ...messages,
      ...ofMesh,
      ...(mesh === undefined
        ? []
        : problemsOf(mesh).filter((each) => !ofMesh.includes(each) && !each.includes('RoutingRule '))),
    ],
    children: routed.map((routes) => hostNode(routes, outcome)),
  });
}

function hostNode(routes: HostRoutes, { rule }: RuleOutcome): TreeNode {
  const all = routesOf(routes, 'strict');
  const isOurs = ({ rule: ref }: Route): boolean => ref.name === rule.name && ref.namespace === rule.namespace;
  // A matcher with methods becomes one route for each of them.
  const owners = routes.routes.flatMap((route) =>
    Array.from({ length: Math.max(route.match.methods.length, 1) }, () => route),
  );
  const ours = all.filter((_route, index) => isOurs(owners[index]!));
  return node('VirtualService', routes.host, `port ${routes.port}`, {
    detail: `router ${sanitize(routes.host)}`,
    children: ours.map(({ name, match, targets }) =>
      node('Route', name, JSON.stringify(match), {
        children: targets.map(({ workload, weight }) => node('VirtualNode', workload, `${weight} %`)),
      }),
    ),
  });
}
