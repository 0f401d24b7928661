// What becomes of a destination of a route: the service that it names, the subset, and who is there.
import { isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { Target } from '../rules.ts';
import type { MeshService, World } from '../world.ts';
import { subsetsOf } from './destination-rules.ts';
import { hasLabels, isExportedTo } from './visibility.ts';

type Labels = Readonly<Record<string, string>>;

/** The proxy that sends requests on, and the port on which it gets them. */
export interface Proxy {
  readonly source: Source;
  readonly namespace: string;
  readonly labels: Labels;
  readonly port: number;
}

interface Wanted {
  readonly host: string;
  readonly subset?: string;
  readonly port?: number;
}

/** Looks up where a destination leads. */
export function targetOf(world: World, proxy: Proxy, { host, subset, port: wanted }: Wanted): Target {
  const service = serviceFor(world, proxy, host);
  // A gateway takes the only port of a service; in the mesh it is the port that was called.
  const [only, ...others] = service?.ports ?? [];
  const single = isGatewaySource(proxy.source) && others.length === 0 ? only?.number : undefined;
  const port = wanted ?? single ?? proxy.port;
  const target = { host, port, ...(subset && { subset }), workloads: [] };
  if (service === undefined || !service.ports.some(({ number }) => number === port)) {
    return { ...target, outcome: 'UnknownHost' };
  }
  const labels = labelsOf(world, proxy, service, subset);
  if (labels === undefined) return { ...target, outcome: 'MissingSubset' };
  if (service.isExternal) return { ...target, outcome: 'External' };
  const ready = world.workloads(service).filter((each) => each.isReady && hasLabels(each.labels, labels));
  if (ready.length === 0) return { ...target, outcome: 'NoEndpoints' };
  return { ...target, outcome: 'Reached', workloads: [...new Set(ready.map(({ key }) => key))].sort() };
}

/** The service that a proxy knows under a host: of its own namespace, else a Service, else the first. */
function serviceFor(world: World, { namespace }: Proxy, host: string): MeshService | undefined {
  const seen = world.services(host).filter((each) => isExportedTo(each.exportTo, each.namespace, namespace));
  return seen.find((each) => each.namespace === namespace) ?? seen.find(({ kind }) => kind === 'Service') ?? seen[0];
}

function labelsOf(world: World, proxy: Proxy, service: MeshService, subset: string | undefined): Labels | undefined {
  if (!subset) return {};
  const found = subsetsOf(world, service, proxy)?.find(({ name }) => name === subset);
  return found && (found.labels ?? {});
}
