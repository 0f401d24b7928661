// Who calls whom, as far as objects tell: by an annotation of the workload, otherwise by addresses of Services in the
// environment variables and arguments of its containers. This is a guess: only the programs know.
import { defineTable, keyOf } from '../../kube/index.ts';
import type { Facts } from '../../controller/index.ts';
import { Gateway } from '../../traffic/istio/objects.ts';
import type { VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment, meshService, Service } from '../../traffic/services.ts';
import type { PodOwner } from '../../traffic/services.ts';
import type { MeshSettings, Source } from '../../traffic/index.ts';
import type { Scope } from './scope.ts';

/** Names the Services that a workload calls, if its variables do not: `reviews,ratings.other:9080`. */
const CALLS_ANNOTATION = 'offshoot.dev/calls';

export const Gateways = defineTable(Gateway, { optional: true });

/** A Service that is called, or a host of a gateway. */
export interface Call {
  readonly host: string;
  readonly port: number;
}

/** A sender of requests: a workload, a gateway, or any client in a namespace. */
export interface Caller {
  /** The id of its node in the picture. */
  readonly id: string;
  readonly source: Source;
  readonly calls: readonly Call[];
}

type ClusterDomain = Pick<MeshSettings, 'clusterDomain'>;

interface Container {
  readonly env?: readonly { readonly value?: string }[];
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly image?: string;
}

export function containersOf({ spec }: PodOwner): readonly Container[] {
  const template = spec?.template as { readonly spec?: { readonly containers?: readonly Container[] } } | undefined;
  return template?.spec?.containers ?? [];
}

/** A workload as a caller, by its key `NAMESPACE/KIND/NAME`; undefined if it does not exist. */
export function workloadCaller({ facts, settings }: Scope, key: string): Caller | undefined {
  const [namespace = '', kind, name = ''] = key.split('/');
  const found = kind === Deployment.kind ? facts.get(Deployment, { namespace, name }) : undefined;
  if (found === undefined) return undefined;
  const labels = found.spec?.template?.metadata?.labels ?? {};
  return { id: key, source: { namespace, labels }, calls: callsOf(facts, found, settings) };
}

/** The Services that a workload calls. */
function callsOf(facts: Facts, workload: PodOwner, mesh: ClusterDomain): readonly Call[] {
  const { namespace = '', annotations = {} } = workload.metadata;
  const annotated = annotations[CALLS_ANNOTATION];
  const texts =
    annotated?.split(',') ??
    containersOf(workload).flatMap(({ env = [], command = [], args = [] }) => [
      ...env.map(({ value = '' }) => value),
      ...command,
      ...args,
    ]);
  const own = new Set(servicesOfWorkload(facts, workload));
  const calls = texts
    .flatMap((text) => addressesIn(text.trim(), annotated !== undefined))
    .flatMap(({ host, port }) => callTo(facts, { host, from: namespace, port }, mesh))
    .filter(({ host }) => !own.has(host));
  return [...new Map(calls.map((call) => [`${call.host}:${call.port}`, call])).values()];
}

/**
 * Finds addresses: `http://reviews:9080/x`, `reviews.shop:9080`; a bare name only if `isName` and it is the whole text.
 */
function addressesIn(text: string, isName: boolean): { readonly host: string; readonly port?: number }[] {
  const urls = [...text.matchAll(/\b(?:https?|grpc):\/\/([a-z\d][a-z\d.-]*)(?::(\d{1,5}))?/gi)];
  const [whole] = text.matchAll(/^([a-z][a-z\d.-]*)(?::(\d{1,5}))?$/gi);
  const isAddress = whole !== undefined && (isName || whole[2] !== undefined || whole[1]!.includes('.'));
  return [...urls, ...(isAddress ? [whole] : [])].map(([, host = '', port]) => ({
    host: host.toLowerCase(),
    ...(port !== undefined && { port: Number(port) }),
  }));
}

/** The call that an address stands for, as seen from a namespace; none if there is no such Service. */
function callTo(
  facts: Facts,
  { host, from, port }: { readonly host: string; readonly from: string; readonly port?: number | undefined },
  mesh: ClusterDomain,
): readonly Call[] {
  const [name = '', namespace = from, ...rest] = host.split('.');
  if (rest.length > 0 && rest[0] !== 'svc') return [];
  const service = facts.get(Service, { name, namespace });
  return service === undefined ? [] : callsTo(service, mesh, port);
}

/** The call to a Service at a port, or at its first HTTP port. */
export function callsTo(service: Service, mesh: ClusterDomain, port?: number): readonly Call[] {
  const { host, ports } = meshService(service, mesh.clusterDomain);
  const chosen = port ?? ports.find(({ isHttp }) => isHttp)?.number;
  return chosen === undefined ? [] : [{ host: shortHost(host, mesh), port: chosen }];
}

/** `reviews.shop` for `reviews.shop.svc.cluster.local`. */
function shortHost(host: string, { clusterDomain }: ClusterDomain): string {
  const suffix = `.svc.${clusterDomain}`;
  return host.endsWith(suffix) ? host.slice(0, -suffix.length) : host;
}

/** The hosts of the Services that select a workload. */
function servicesOfWorkload(facts: Facts, workload: PodOwner): readonly string[] {
  const { namespace = '' } = workload.metadata;
  const labels = workload.spec?.template?.metadata?.labels ?? {};
  return facts.list(Service, { namespace }).flatMap(({ metadata, spec }) => {
    const selector = Object.entries(spec?.selector ?? {});
    const isSelected = selector.length > 0 && selector.every(([name, value]) => labels[name] === value);
    return isSelected ? [`${metadata.name}.${namespace}`] : [];
  });
}

/** The gateways as callers, with the hosts of the VirtualServices that are bound to them. */
export function gatewayCallers(gateways: readonly Gateway[], services: readonly VirtualService[]): readonly Caller[] {
  return gateways.map((gateway) => {
    const key = keyOf(gateway.metadata);
    const port = gateway.spec?.servers?.find(({ port }) => port?.number !== undefined)?.port?.number ?? 80;
    const hosts = services.filter((each) => isBoundTo(each, key)).flatMap(({ spec }) => spec?.hosts ?? []);
    return {
      id: `gateway ${key}`,
      source: { gateway: key },
      calls: [...new Set(hosts)].map((host) => ({ host: callable(host, key), port })),
    };
  });
}

function isBoundTo({ metadata, spec }: VirtualService, key: string): boolean {
  const gateways = spec?.gateways ?? [];
  return gateways.some((each) => (each.includes('/') ? each : `${metadata.namespace}/${each}`) === key);
}

/** A host that can be called; a wildcard becomes an example host. */
function callable(host: string, key: string): string {
  return host.replace(/^\*\.?/, host === '*' ? `${key.replace('/', '.')}.example` : 'any.');
}
