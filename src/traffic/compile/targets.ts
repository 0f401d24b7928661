// Resolves the destination of a route: its service, its subset, and the workloads that answer.
import { isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { Target } from '../rules.ts';
import type { MeshService, Workload, World } from '../world.ts';
import { subsetsOf } from './destination-rules.ts';
import { indexBy } from '../index-by.ts';
import { hasLabels, isExportedTo, preferredService } from './visibility.ts';

type Labels = Readonly<Record<string, string>>;

/** The proxy that forwards requests, and the port on which it gets them. */
export interface Proxy {
  readonly source: Source;
  readonly namespace: string;
  readonly labels: Labels;
  readonly port: number;
}

export interface DestinationAddress {
  /** The full name. */
  readonly host: string;
  readonly subset?: string;
  readonly port?: number;
}

/** Resolves a destination. */
export type LookUp = (address: DestinationAddress) => Target;

/** A service with its subsets and ready workloads, shared by all destinations that lead to it. */
interface ResolvedService {
  readonly service: MeshService;
  readonly subsets: ReadonlyMap<string, Labels>;
  readonly ready: readonly Workload[];
  /** Ready workloads by label, `NAME=VALUE`: a subset selects few of many versions. */
  readonly byLabel: ReadonlyMap<string, readonly Workload[]>;
}

/** Resolves destinations as a proxy sees them. Services are cached. */
export function targetsFor(world: World, proxy: Proxy): LookUp {
  const all = new Map<string, ResolvedService | undefined>();
  return (address) => {
    const { host } = address;
    if (!all.has(host)) all.set(host, resolveService(world, proxy, host));
    return targetOf(proxy, address, all.get(host));
  };
}

function targetOf(
  { source, port: called }: Proxy,
  { host, subset, port: explicit }: DestinationAddress,
  resolved?: ResolvedService,
): Target {
  // Without a port, a gateway uses the only port of the service; in the mesh it is the port that was called.
  const [only, ...others] = resolved?.service.ports ?? [];
  const single = isGatewaySource(source) && others.length === 0 ? only?.number : undefined;
  const port = explicit ?? single ?? called;
  const target = { host, port, ...(subset && { subset }), workloads: [] };
  if (resolved === undefined || !resolved.service.ports.some(({ number }) => number === port)) {
    return { ...target, outcome: 'UnknownHost' };
  }
  const labels = subset ? resolved.subsets.get(subset) : {};
  if (labels === undefined) return { ...target, outcome: 'MissingSubset' };
  if (resolved.service.isExternal) return { ...target, outcome: 'External' };
  const [label] = Object.entries(labels);
  const candidates = label === undefined ? resolved.ready : (resolved.byLabel.get(label.join('=')) ?? []);
  const ready = candidates.filter((each) => hasLabels(each.labels, labels));
  if (ready.length === 0) return { ...target, outcome: 'NoEndpoints' };
  return { ...target, outcome: 'Reached', workloads: [...new Set(ready.map(({ key }) => key))].sort() };
}

/** The service that a proxy sees under a host. */
function resolveService(world: World, proxy: Proxy, host: string): ResolvedService | undefined {
  const { namespace, source } = proxy;
  // A pod can be routed to services of its own namespace whatever their `exportTo`.
  const isOwn = (each: MeshService): boolean => !isGatewaySource(source) && each.namespace === namespace;
  const seen = world
    .services(host)
    .filter((each) => isOwn(each) || isExportedTo(each.exportTo, each.namespace, namespace));
  const service = preferredService(seen, namespace);
  if (service === undefined) return undefined;
  const subsets = subsetsOf(world, service, proxy) ?? [];
  const ready = world.workloads(service).filter(({ isReady }) => isReady);
  return {
    service,
    // Of several subsets with one name, the first wins.
    subsets: new Map(subsets.toReversed().map(({ name, labels = {} }) => [name, labels])),
    ready,
    byLabel: indexBy(ready, ({ labels }) => Object.entries(labels).map((label) => label.join('='))),
  };
}
