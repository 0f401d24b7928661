// What becomes of a destination of a route: the service that it names, the subset, and who is there.
import { isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { Target } from '../rules.ts';
import type { MeshService, Workload, World } from '../world.ts';
import { subsetsOf } from './destination-rules.ts';
import { indexBy } from '../index-by.ts';
import { hasLabels, isExportedTo, preferred } from './visibility.ts';

type Labels = Readonly<Record<string, string>>;

/** The proxy that sends requests on, and the port on which it gets them. */
export interface Proxy {
  readonly source: Source;
  readonly namespace: string;
  readonly labels: Labels;
  readonly port: number;
}

export interface Wanted {
  /** In full. */
  readonly host: string;
  readonly subset?: string;
  readonly port?: number;
}

/** Finds where a destination leads. */
export type LookUp = (wanted: Wanted) => Target;

/** What is known of a service, for all destinations that lead to it. */
interface Known {
  readonly service: MeshService;
  readonly subsets: ReadonlyMap<string, Labels>;
  readonly ready: readonly Workload[];
  /** Those with a label, by `NAME=VALUE`: of a hundred versions each subset is that of one. */
  readonly byLabel: ReadonlyMap<string, readonly Workload[]>;
}

/** Finds where destinations lead, as a proxy sees it. What it found out about a service it keeps for the next. */
export function targetsFor(world: World, proxy: Proxy): LookUp {
  const all = new Map<string, Known | undefined>();
  return (wanted) => {
    const { host } = wanted;
    if (!all.has(host)) all.set(host, knownOf(world, proxy, host));
    return targetOf(proxy, wanted, all.get(host));
  };
}

function targetOf({ source, port: called }: Proxy, { host, subset, port: wanted }: Wanted, known?: Known): Target {
  // A gateway takes the only port of a service; in the mesh it is the port that was called.
  const [only, ...others] = known?.service.ports ?? [];
  const single = isGatewaySource(source) && others.length === 0 ? only?.number : undefined;
  const port = wanted ?? single ?? called;
  const target = { host, port, ...(subset && { subset }), workloads: [] };
  if (known === undefined || !known.service.ports.some(({ number }) => number === port)) {
    return { ...target, outcome: 'UnknownHost' };
  }
  const labels = subset ? known.subsets.get(subset) : {};
  if (labels === undefined) return { ...target, outcome: 'MissingSubset' };
  if (known.service.isExternal) return { ...target, outcome: 'External' };
  const [label] = Object.entries(labels);
  const candidates = label === undefined ? known.ready : (known.byLabel.get(label.join('=')) ?? []);
  const ready = candidates.filter((each) => hasLabels(each.labels, labels));
  if (ready.length === 0) return { ...target, outcome: 'NoEndpoints' };
  return { ...target, outcome: 'Reached', workloads: [...new Set(ready.map(({ key }) => key))].sort() };
}

/** What a proxy knows under a host. */
function knownOf(world: World, proxy: Proxy, host: string): Known | undefined {
  const { namespace, source } = proxy;
  // What a pod's own namespace has can be routed to whomever it is exported to.
  const isOwn = (each: MeshService): boolean => !isGatewaySource(source) && each.namespace === namespace;
  const seen = world
    .services(host)
    .filter((each) => isOwn(each) || isExportedTo(each.exportTo, each.namespace, namespace));
  const service = preferred(seen, namespace);
  if (service === undefined) return undefined;
  const subsets = subsetsOf(world, service, proxy) ?? [];
  const ready = world.workloads(service).filter(({ isReady }) => isReady);
  return {
    service,
    // Of several with one name the first counts.
    subsets: new Map(subsets.toReversed().map(({ name, labels = {} }) => [name, labels])),
    ready,
    byLabel: indexBy(ready, ({ labels }) => Object.entries(labels).map((label) => label.join('='))),
  };
}
