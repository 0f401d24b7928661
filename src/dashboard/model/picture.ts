// The traffic picture: callers, workloads and the rules between them; the base path, and the path of the selected
// requests. Workloads that are not on that path are folded into one node per namespace.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { cloneRef } from '../../environments/describe/world.ts';
import { exampleValue } from '../../environments/describe/matches.ts';
import { itemsOf, uniqueVersion } from '../../environments/index.ts';
import { matchesOf } from '../../environments/requests/matches.ts';
import { keyOf } from '../../kube/index.ts';
import { Deployment, Service } from '../../traffic/services.ts';
import type { Picture, PictureEdge, PictureNode } from '../data.ts';
import { callsTo, containersOf, gatewayCallers, Gateways, workloadCaller } from './calls.ts';
import type { Caller } from './calls.ts';
import type { Scope } from './scope.ts';
import { isVisible, mayReadAll, readsOfCaller } from './visible.ts';
import { behind, followCalls } from './call-path.ts';
import type { Step } from './call-path.ts';

/** With more nodes than this, nodes that are not on the path are folded. */
const MAX_NODES = 16;

const HIDDEN = 'Some of it is hidden: it involves objects that you may not read.';

const workloadKey = (key: string): string => key.replace('/', `/${Deployment.kind}/`);

/** The picture of an environment. */
export function environmentPicture(scope: Scope, env: DynamicEnv): Picture {
  const { subsets } = itemsOf(env);
  const clones = clonesOf(env);
  const [match = {}] = env.spec === undefined ? [] : matchesOf(env.spec, scope.settings);
  const patterns = Object.entries(match.headers ?? {}).filter(([, { regex }]) => regex !== undefined);
  const headers = Object.fromEntries(
    Object.entries(match.headers ?? {}).map(([name, value]) => [name.toLowerCase(), exampleValue(value)]),
  );
  const starts = startsIn(scope, new Set(subsets.map(({ namespace }) => namespace)));
  const base = followCalls(scope, starts, { headers: {} });
  const path = followCalls(scope, starts, { headers, version: uniqueVersion(env.metadata) });
  const notes = patterns.map(
    ([name]) => `The key is a pattern: try a request with a value of your own in ${name} to see its path.`,
  );
  return drawn(scope, { base, path, clones, notes });
}

/** The base of each clone that gets requests, by the clone's key. */
export function clonesOf(env: DynamicEnv): ReadonlyMap<string, string> {
  const { subsets } = itemsOf(env);
  return new Map(
    subsets.map((subset) => [workloadKey(keyOf(cloneRef(env, subset))), workloadKey(keyOf(subset))] as const),
  );
}

/** Where requests start: gateways, and unknown callers of the Services that no known workload calls. */
export function startsIn(scope: Scope, namespaces: ReadonlySet<string>): readonly Caller[] {
  const { facts, settings } = scope;
  const gateways = gatewayCallers(facts.list(Gateways), facts.list(VirtualService));
  const deployments = facts.list(Deployment).filter(({ metadata }) => namespaces.has(metadata.namespace ?? ''));
  const callers = deployments.flatMap(({ metadata }) => workloadCaller(scope, workloadKey(keyOf(metadata))) ?? []);
  const called = new Set(callers.flatMap(({ calls }) => calls.map(({ host }) => host)));
  const entered = new Set(
    followCalls(scope, gateways, { headers: {} }).flatMap(({ decision }) =>
      decision.kind === 'route' ? decision.destinations.map(({ host }) => host) : [],
    ),
  );
  const outside = [...namespaces].flatMap((namespace): readonly Caller[] => {
    const services = facts
      .list(Service, { namespace })
      .filter(({ spec }) => Object.keys(spec?.selector ?? {}).length > 0)
      .filter(({ metadata: { name } }) => !called.has(`${name}.${namespace}`))
      .filter(({ metadata: { name } }) => ![...entered].some((host) => host.startsWith(`${name}.${namespace}.`)));
    const calls = services.flatMap((service) => callsTo(service, settings));
    return calls.length === 0 ? [] : [{ id: `callers ${namespace}`, source: { namespace, labels: {} }, calls }];
  });
  return [...gateways.filter(({ calls }) => calls.length > 0), ...outside];
}

export interface Drawing {
  readonly base: readonly Step[];
  readonly path: readonly Step[];
  /** The key of the base, by the key of the clone. */
  readonly clones: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

/** The nodes and edges of two paths, as far as the user may see them. */
export function drawn(scope: Scope, drawing: Drawing): Picture {
  const { facts } = scope;
  const base = drawing.base.filter((step) => isVisible(scope, step));
  const path = drawing.path.filter((step) => isVisible(scope, step));
  const clones = new Map([...drawing.clones].filter(([clone]) => mayReadAll(scope, readsOfCaller(clone))));
  const hidden = drawing.path.length - path.length + drawing.clones.size - clones.size;
  const notes = [...drawing.notes, ...(hidden > 0 ? [HIDDEN] : [])];
  const edges = merged(edgesOf(base, 'base'), edgesOf(path, 'path'));
  // Show a clone even if no request reaches it yet.
  const there = [...clones].flatMap(([clone, own]) => (exists(facts, clone) ? [clone, own] : [own]));
  const ids = new Set([...edges.flatMap(({ from, to }) => [from, to]), ...there]);
  const onPath = new Set(edges.filter(({ on }) => on !== 'base').flatMap(({ from, to }) => [from, to]));
  const kept = ids.size <= MAX_NODES ? ids : keptOf(ids, edges, clones);
  const shownAs = (id: string): string => (kept.has(id) ? id : `folded ${namespaceOf(id)}`);
  const nodes = [...ids].filter((id) => kept.has(id)).map((id) => nodeOf(facts, id, clones.get(id), onPath.has(id)));
  const folded = Map.groupBy(
    [...ids].filter((id) => !kept.has(id)),
    namespaceOf,
  );
  const rest = [...folded].map(([namespace, all]): PictureNode => {
    const detail = `${all.length} workloads that it does not change`;
    return { id: `folded ${namespace}`, kind: 'folded', label: namespace, namespace, detail, isOnPath: false };
  });
  const shown = edges
    .map((edge) => ({ ...edge, from: shownAs(edge.from), to: shownAs(edge.to) }))
    .filter(({ from, to }) => from !== to);
  // Gateways are left out: a host of the mesh alone is not meant to be reached there.
  const lost = path.filter(
    ({ to, from, decision }) => to.length === 0 && decision.kind === 'route' && !from.startsWith('gateway '),
  );
  return {
    nodes: [...nodes, ...rest],
    edges: folded.size === 0 ? shown : merged(shown, []),
    notes: [...notes, ...lost.map(({ call, from }) => `Nothing answers ${labelOf(from)} at ${call.host}.`)],
  };
}

/** The nodes that are not folded: everything that leads to a clone, and what the clone calls. */
function keptOf(
  ids: ReadonlySet<string>,
  edges: readonly PictureEdge[],
  clones: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const own = clones.size > 0 ? [...clones].flat() : edges.filter(({ on }) => on !== 'base').map(({ to }) => to);
  const kept = new Set(own.filter((id) => ids.has(id)));
  const forward = edges.filter(({ from, on }) => kept.has(from) && on !== 'base').map(({ to }) => to);
  for (const queue = [...kept]; queue.length > 0;) {
    const to = queue.pop()!;
    for (const { from } of edges.filter((edge) => edge.to === to)) {
      if (!kept.has(from)) queue.push(from);
      kept.add(from);
    }
  }
  for (const id of forward) kept.add(id);
  return kept;
}

function edgesOf(steps: readonly Step[], on: PictureEdge['on']): readonly PictureEdge[] {
  return steps.flatMap(({ from, to, call, decision }) =>
    to.map((each) => ({ from, to: each, on, host: call.host, rule: behind(decision) })),
  );
}

/** One edge per pair of nodes; an edge of both paths becomes `both`. */
function merged(base: readonly PictureEdge[], path: readonly PictureEdge[]): readonly PictureEdge[] {
  const edges = new Map<string, PictureEdge>();
  for (const edge of [...base, ...path]) {
    const id = `${edge.from} → ${edge.to}`;
    const known = edges.get(id);
    if (known === undefined) edges.set(id, edge);
    else if (known.on !== edge.on) edges.set(id, { ...edge, on: 'both' });
  }
  return [...edges.values()];
}

function exists(facts: Facts, key: string): boolean {
  const [namespace = '', , name = ''] = key.split('/');
  return facts.get(Deployment, { namespace, name }) !== undefined;
}

function namespaceOf(id: string): string {
  return id.replace(/^(gateway|callers|folded) /, '').split('/')[0]!;
}

function labelOf(id: string): string {
  if (id.startsWith('callers ')) return `callers in ${id.slice('callers '.length)}`;
  return id.startsWith('gateway ') ? id.split('/')[1]! : (id.split('/')[2] ?? id);
}

function nodeOf(facts: Facts, id: string, cloneOf: string | undefined, isOnPath: boolean): PictureNode {
  const kind = id.startsWith('gateway ') ? 'gateway' : id.startsWith('callers ') ? 'callers' : 'workload';
  const namespace = namespaceOf(id);
  const name = id.split('/')[2] ?? '';
  const workload = kind === 'workload' ? facts.get(Deployment, { namespace, name }) : undefined;
  const images = workload === undefined ? [] : containersOf(workload).flatMap(({ image }) => image ?? []);
  const detail = { gateway: 'gateway', callers: 'whoever calls', workload: images.join(', ') }[kind];
  return { id, kind, label: labelOf(id), namespace, detail, ...(cloneOf !== undefined && { cloneOf }), isOnPath };
}
