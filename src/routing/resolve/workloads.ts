// Stage one: the virtual nodes of a mesh, from its pods and the upstreams that select them.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { keyOf } from '../model.ts';
import type { Labels, Mode, Pod, Ref, Service, ServiceHost, Snapshot, Upstream, Workload } from '../model.ts';
import { byText, sortedBy } from '../names.ts';
import { finder } from './find.ts';
import type { Find } from './find.ts';
import { appPortsOf, sidecarOf } from './sidecar.ts';
import { hostAndPort, PodIndex, podsOf } from './upstreams.ts';

interface WorkloadProblem {
  readonly kind: 'Pod' | 'Upstream' | 'Mesh';
  /** Absent: the mesh itself. */
  readonly ref?: Ref;
  readonly problem: Problem;
}

/** The workloads of a mesh, against which its rules are resolved. */
export interface Workloads {
  readonly workloads: readonly Workload[];
  readonly byHost: ReadonlyMap<string, Workload>;
  readonly services: readonly ServiceHost[];
  readonly serviceOf: ReadonlyMap<string, ServiceHost>;
  /** Upstreams with pods in the mesh, sorted by key. */
  readonly upstreams: readonly Upstream[];
  readonly find: Find<Upstream>;
  readonly hostOf: ReadonlyMap<Upstream, string>;
  readonly unresolved: readonly string[];
  /** Upstreams of pods whose virtual nodes could not be resolved, sorted by key. */
  readonly unresolvedUpstreams: readonly Upstream[];
  /** Problems of pods and upstreams. */
  readonly problemsFound: readonly WorkloadProblem[];
  readonly failures: readonly Problem[];
}

/** A pod of the mesh. */
interface Member {
  readonly pod: Pod;
  readonly node: string;
  readonly ports: readonly number[];
  /** Why it has no ports, if so. */
  readonly portless?: Problem;
}

/** An upstream that selects pods of the mesh. */
interface Injected {
  readonly upstream: Upstream;
  readonly service: Ref;
  readonly selector: Labels;
  readonly host: string;
  readonly port: number;
  readonly members: readonly Member[];
}

/** The pods of a cluster, and the services and upstreams that select them. */
export type Running = Pick<Snapshot, 'pods' | 'upstreams' | 'services'>;

export interface WorkloadOptions {
  readonly mode: Mode;
  /** The name of a virtual node in a back end. */
  readonly nodeName: (workload: Workload) => string;
}

export function resolveWorkloads(meshName: string, snapshot: Running, options: WorkloadOptions): Workloads {
  const { mode } = options;
  const problemsFound: WorkloadProblem[] = [];
  const named = new Map<Pod, string>();
  const candidates = membersOf(meshName, snapshot.pods, mode, problemsFound, named);
  const all = injectedBy(snapshot.upstreams, candidates, mode, problemsFound);
  const members = withoutBroken(candidates, all, snapshot.services, problemsFound);
  const injected = sortedBy(members === candidates ? all : selecting(all, members), ({ upstream }) =>
    keyOf(upstream.ref),
  );
  const { made, failures } = makeNodes(members, injected, snapshot.services, options);
  const byHost = new Map(made.flatMap((workload) => (workload.host === undefined ? [] : [[workload.host, workload]])));
  const workloads = sortedBy(
    made.filter((each) => each.host === undefined || byHost.get(each.host) === each),
    ({ id }) => id,
  );
  const services = servicesOf(injected, byHost);
  const upstreams = injected.map(({ upstream }) => upstream);
  const ids = new Set(workloads.map(({ id }) => id));
  return {
    workloads,
    byHost,
    services,
    serviceOf: new Map(services.map((each) => [each.host, each])),
    upstreams,
    find: finder(upstreams),
    hostOf: new Map(injected.map(({ upstream, host }) => [upstream, host])),
    unresolved: [...new Set(named.values())].filter((node) => !ids.has(node)).sort(byText),
    unresolvedUpstreams: selectingUnresolved(snapshot.upstreams, named, ids, mode),
    problemsFound,
    failures,
  };
}

/** The pods of a mesh, sorted by key. `named` also gets the pods that are skipped, with their virtual nodes. */
function membersOf(
  meshName: string,
  pods: readonly Pod[],
  mode: Mode,
  problemsFound: WorkloadProblem[],
  named: Map<Pod, string>,
): readonly Member[] {
  const members: Member[] = [];
  for (const pod of pods) {
    const sidecar = sidecarOf(pod, mode);
    if (sidecar.kind === 'unreadable') {
      problemsFound.push({ kind: 'Pod', ref: pod.ref, problem: sidecar.problem });
      continue;
    }
    const node = sidecar.nodes.get(meshName);
    if (node === undefined) continue;
    named.set(pod, node);
    const found = appPortsOf(pod, mode);
    if (found.kind === 'ports') members.push({ pod, node, ports: found.ports });
    else if (found.kind === 'none') members.push({ pod, node, ports: [], portless: found.problem });
    else problemsFound.push({ kind: 'Pod', ref: pod.ref, problem: found.problem });
  }
  return sortedBy(members, ({ pod }) => keyOf(pod.ref));
}

/** Each upstream that selects pods of the mesh, with these pods. */
function injectedBy(
  upstreams: readonly Upstream[],
  members: readonly Member[],
  mode: Mode,
  problemsFound: WorkloadProblem[],
): Injected[] {
  const index = new PodIndex(members);
  return upstreams.flatMap((upstream): Injected[] => {
    if (upstream.spec.kind !== 'kube') return [];
    const { service, selector } = upstream.spec;
    const selected = podsOf(index, service.namespace, selector, mode);
    if (selected.length === 0) return [];
    const found = hostAndPort(upstream, mode);
    if ('problem' in found) {
      problemsFound.push({ kind: 'Upstream', ref: upstream.ref, problem: found.problem });
      return [];
    }
    return [{ upstream, service, selector: selector ?? {}, ...found, members: selected }];
  });
}

/** The upstreams that select pods whose virtual nodes could not be resolved. */
function selectingUnresolved(
  upstreams: readonly Upstream[],
  named: ReadonlyMap<Pod, string>,
  made: ReadonlySet<string>,
  mode: Mode,
): readonly Upstream[] {
  const lost = [...named].filter(([, node]) => !made.has(node)).map(([pod]) => ({ pod }));
  if (lost.length === 0) return [];
  const index = new PodIndex(lost);
  const selected = upstreams.filter(
    ({ spec }) => spec.kind === 'kube' && podsOf(index, spec.service.namespace, spec.selector, mode).length > 0,
  );
  return sortedBy(selected, ({ ref }) => keyOf(ref));
}

/** Drops pods that a service selects but that do not declare ports. */
function withoutBroken(
  members: readonly Member[],
  injected: readonly Injected[],
  services: readonly Service[],
  problemsFound: WorkloadProblem[],
): readonly Member[] {
  const portless = members.filter((member) => member.portless !== undefined);
  if (portless.length === 0) return members;
  const index = new PodIndex(portless);
  const served = new Set([
    ...injected.flatMap((each) => each.members),
    ...services.flatMap(({ ref, selector }) => podsOf(index, ref.namespace, selector, 'strict')),
  ]);
  return members.filter((member) => {
    if (member.portless === undefined || !served.has(member)) return true;
    problemsFound.push({ kind: 'Pod', ref: member.pod.ref, problem: member.portless });
    return false;
  });
}

/** The upstreams that select some of these pods, with only these pods. */
function selecting(injected: readonly Injected[], members: readonly Member[]): Injected[] {
  const kept = new Set(members);
  return injected
    .map((each) => ({ ...each, members: each.members.filter((member) => kept.has(member)) }))
    .filter((each) => each.members.length > 0);
}

/** The pods that share a virtual node, and their upstreams. */
interface Group {
  readonly members: Member[];
  readonly upstreams: Injected[];
}

function makeNodes(
  members: readonly Member[],
  injected: readonly Injected[],
  services: readonly Service[],
  { mode, nodeName }: WorkloadOptions,
): { readonly made: readonly Workload[]; readonly failures: readonly Problem[] } {
  const groups = new Map<string, Group>();
  for (const member of members) {
    const group = groups.get(member.node);
    if (group === undefined) groups.set(member.node, { members: [member], upstreams: [] });
    else group.members.push(member);
  }
  for (const each of injected) {
    for (const node of new Set(each.members.map((member) => member.node))) groups.get(node)!.upstreams.push(each);
  }
  const serviceByKey = new Map(services.map((service) => [keyOf(service.ref), service]));
  const failures: Problem[] = [];
  const made: Workload[] = [];
  for (const [node, group] of sortedBy(groups, ([name]) => name)) {
    const result = makeNode(node, group, serviceByKey, mode);
    if ('code' in result) failures.push(result);
    else made.push(result);
  }
  if (mode === 'compat') return { made, failures };
  const idsOf = (same: readonly Workload[]): readonly string[] => same.map(({ id }) => id);
  const ofHosts = [...Map.groupBy(made, ({ host }) => host)].filter(
    ([host, same]) => host !== undefined && same.length > 1,
  );
  for (const [host, same] of ofHosts) failures.push(problems.nodeDuplicateHost(idsOf(same), host!));
  const ofNames = [...Map.groupBy(made, nodeName)].filter(([, same]) => same.length > 1);
  for (const [name, same] of ofNames) failures.push(problems.nameCollision('virtual nodes', idsOf(same), name));
  const ambiguous = new Set([...ofHosts, ...ofNames].flatMap(([, same]) => same));
  return { made: made.filter((workload) => !ambiguous.has(workload)), failures };
}

function makeNode(
  node: string,
  { members, upstreams }: Group,
  services: ReadonlyMap<string, Service>,
  mode: Mode,
): Workload | Problem {
  const hosts = [...new Set(upstreams.map(({ host }) => host))].sort(byText);
  const ports = [...new Set(members.flatMap((member) => member.ports))].sort((a, b) => a - b);
  const { namespace } = members[0]!.pod.ref;
  if (hosts.length === 0 && ports.length === 0) {
    return { id: node, host: undefined, ports, namespace, selector: commonLabels(members) };
  }
  if (hosts.length === 0) return problems.nodeNoService(node);
  if (hosts.length > 1) return problems.nodeMultipleServices(node, hosts);
  const [host] = hosts as [string];
  const mapped = new Set(upstreams.map(({ port }) => port));
  if (mode === 'strict') for (const port of targetPortsOf(upstreams[0]!.service, members, services)) mapped.add(port);
  const unmapped = ports.find((port) => !mapped.has(port));
  if (unmapped !== undefined) return problems.nodePortUnmapped(node, host, unmapped);
  const selector = common(upstreams.map((each) => each.selector));
  return { id: node, host, ports, namespace: upstreams[0]!.service.namespace, selector };
}

/** The container ports that a service targets, if the Service is known. */
function targetPortsOf(service: Ref, members: readonly Member[], services: ReadonlyMap<string, Service>): number[] {
  const { targetPorts = [] } = services.get(keyOf(service)) ?? {};
  return targetPorts.flatMap((port) =>
    typeof port === 'number' ? [port] : members.flatMap(({ pod }) => pod.namedPorts[port] ?? []),
  );
}

/** Labels that controllers set to a different value on each pod or revision. */
const OF_ONE_POD =
  /^(pod-template-hash|controller-revision-hash|pod-template-generation|statefulset\.kubernetes\.io\/.*|apps\.kubernetes\.io\/pod-index)$/;

function commonLabels(members: readonly Member[]): Labels {
  const labels = common(members.map(({ pod }) => pod.labels));
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !OF_ONE_POD.test(key)));
}

/** The entries that all label sets have in common. */
function common([first = {}, ...others]: readonly Labels[]): Labels {
  const shared = Object.entries(first).filter(([key, value]) => others.every((other) => other[key] === value));
  return Object.fromEntries(shared.sort(([a], [b]) => byText(a, b)));
}

function servicesOf(injected: readonly Injected[], byHost: ReadonlyMap<string, Workload>): readonly ServiceHost[] {
  const hosts = [...Map.groupBy(injected, ({ host }) => host)].map(([host, same]): ServiceHost => ({
    host,
    service: same[0]!.service,
    ports: [...new Set(same.map(({ port }) => port))].sort((a, b) => a - b),
    upstreams: same.map(({ upstream }) => upstream.ref),
    workload: byHost.get(host)?.id,
  }));
  return sortedBy(hosts, ({ host }) => host);
}
