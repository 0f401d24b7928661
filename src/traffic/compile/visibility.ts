// Which services and VirtualServices a proxy sees: `exportTo` limits it on the owner's side, Sidecars on the caller's.
import { byAge } from '../istio/precedence.ts';
import type { Sidecar, VirtualService } from '../istio/objects.ts';
import type { MeshSource } from '../request.ts';
import type { MeshService, MeshSettings, World } from '../world.ts';
import { isWildcard, overlaps, within } from './hostnames.ts';

type Labels = Readonly<Record<string, string>>;

/** The order of precedence: exported from the caller's own namespace, to some namespaces, to all. */
const OWN = 0;
const SOME = 1;
const ALL = 2;

/** The precedence of a VirtualService as seen from a namespace; undefined if it is not visible there. */
function exportRank({ metadata, spec }: VirtualService, namespace: string): number | undefined {
  const owner = metadata.namespace ?? '';
  const exportTo = spec?.exportTo?.length ? spec.exportTo : ['*'];
  if (exportTo.includes('*')) return ALL;
  if (exportTo.includes('~') || !listsNamespace(exportTo, owner, namespace)) return undefined;
  return owner === namespace ? OWN : SOME;
}

/** Whether an object with this `exportTo` is visible in a namespace. */
export function isExportedTo(exportTo: readonly string[], owner: string, namespace: string): boolean {
  return exportTo.includes('*') || listsNamespace(exportTo, owner, namespace);
}

function listsNamespace(exportTo: readonly string[], owner: string, namespace: string): boolean {
  return exportTo.includes(namespace) || (owner === namespace && exportTo.includes('.'));
}

/** The VirtualServices that are visible in a namespace, in istiod's order of precedence. */
export function byPrecedence(services: Iterable<VirtualService>, namespace: string): readonly VirtualService[] {
  const ranked = [...new Set(services)].flatMap((service) => {
    const rank = exportRank(service, namespace);
    return rank === undefined ? [] : [{ service, rank }];
  });
  return ranked.sort((a, b) => a.rank - b.rank || byAge(a.service, b.service)).map(({ service }) => service);
}

/** The configuration of a pod in the mesh: what it imports, and where unknown hosts go. */
export interface Scope {
  readonly namespace: string;
  readonly labels: Labels;
  /** The hosts that its Sidecar imports, by namespace; `*` is all namespaces. */
  readonly imports: ReadonlyMap<string, HostList>;
  readonly outboundTrafficPolicy: MeshSettings['outboundTrafficPolicy'];
}

interface HostList {
  readonly hosts: readonly string[];
  readonly excluded: readonly string[];
}

const EVERYTHING: Scope['imports'] = new Map([['*', { hosts: ['*'], excluded: [] }]]);

/** The scope of a caller on a port; undefined if its Sidecar has no listener there. */
export function scopeOf(world: World, { namespace, labels = {} }: MeshSource, port: number): Scope | undefined {
  const { settings } = world;
  const sidecar = sidecarOf(world, namespace, labels);
  const mode = sidecar?.spec?.outboundTrafficPolicy?.mode ?? settings.outboundTrafficPolicy;
  const egress = sidecar?.spec?.egress ?? [];
  const listener = egress.find(({ port: own }) => own?.number === undefined || own.number === port);
  if (egress.length > 0 && listener === undefined) return undefined;
  return {
    namespace,
    labels,
    imports: listener === undefined ? EVERYTHING : importsOf(listener.hosts ?? [], namespace),
    outboundTrafficPolicy: mode === 'REGISTRY_ONLY' ? mode : 'ALLOW_ANY',
  };
}

/** The Sidecar of a pod: the oldest that selects it, else the oldest without a selector, else the one of the mesh. */
function sidecarOf(world: World, namespace: string, labels: Labels): Sidecar | undefined {
  const isFor = ({ spec }: Sidecar): boolean => hasLabels(labels, spec?.workloadSelector?.labels ?? {});
  const isForAll = ({ spec }: Sidecar): boolean => spec?.workloadSelector === undefined;
  const own = world.sidecars(namespace).toSorted(byAge).filter(isFor);
  return (
    own.find((each) => !isForAll(each)) ??
    own[0] ??
    world.sidecars(world.settings.rootNamespace).toSorted(byAge).find(isForAll)
  );
}

export function hasLabels(labels: Labels, selector: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

function importsOf(hosts: readonly string[], own: string): Scope['imports'] {
  const entries = hosts.flatMap((entry) => {
    const [scope = '', host, ...rest] = entry.split('/');
    if (host === undefined || rest.length > 0) return [];
    const isExcluded = scope.startsWith('~');
    const namespace = (isExcluded ? scope.slice(1) || '*' : scope).replace(/^\.$/, own);
    return [{ namespace, host, isExcluded }];
  });
  const byNamespace = Map.groupBy(entries, ({ namespace }) => namespace);
  return new Map(
    Array.from(byNamespace, ([namespace, list]) => {
      const [excluded, imported] = [true, false].map((is) =>
        list.filter(({ isExcluded }) => isExcluded === is).map(({ host }) => host),
      );
      return [namespace, { hosts: imported!, excluded: excluded! }];
    }),
  );
}

/** Whether a caller sees a service. */
export function seesService(scope: Scope, service: MeshService): boolean {
  const { host, namespace, exportTo } = service;
  if (!isExportedTo(exportTo, namespace, scope.namespace)) return false;
  return imports(scope, namespace, [host], within);
}

/** Whether a caller imports a VirtualService that is visible in its namespace. */
export function importsRoutes(scope: Scope, namespace: string, hosts: readonly string[]): boolean {
  const matches = (host: string, imported: string): boolean =>
    isWildcard(host) || isWildcard(imported) ? overlaps(host, imported) : host === imported;
  return imports(scope, namespace, hosts, matches);
}

function imports(
  scope: Scope,
  namespace: string,
  hosts: readonly string[],
  matches: (host: string, imported: string) => boolean,
): boolean {
  const lists = [scope.imports.get(namespace), scope.imports.get('*')].filter((each) => each !== undefined);
  return hosts.some(
    (host) =>
      lists.some((list) => list.hosts.some((each) => matches(host, each))) &&
      !lists.some(({ excluded }) => excluded.some((each) => within(host, each))),
  );
}

/** The service that a namespace uses of several with one host: its own, else a Service, else the first. */
export function preferredService(services: readonly MeshService[], namespace: string): MeshService | undefined {
  return (
    services.find((each) => each.namespace === namespace) ??
    services.find(({ kind }) => kind === 'Service') ??
    services[0]
  );
}
