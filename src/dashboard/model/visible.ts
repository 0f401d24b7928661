// Whether the user may read all objects behind a routing decision. The decision always uses all rules: one made with
// the readable rules alone would be wrong. So it is shown as a whole, or not at all.
import type { ConsideredData, DecisionData } from '../../traffic/index.ts';
import { consideredData, decisionData } from '../../traffic/index.ts';
import { DestinationRule, Gateway, ServiceEntry, VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment, Service } from '../../traffic/services.ts';
import type { Resource, Scope } from './scope.ts';
import type { Step } from './call-path.ts';

type RequiredRead = readonly [resource: Resource, namespace: string | undefined];

/** Whether all of it may be read. Checks every permission, so that all unknown permissions are reviewed in one round. */
export function mayReadAll({ may }: Pick<Scope, 'may'>, reads: readonly RequiredRead[]): boolean {
  return reads.map(([resource, namespace]) => may('list', resource, namespace)).every(Boolean);
}

/** Whether a step may be shown: the caller, the considered rules, and the destination. */
export function isVisible(scope: Scope, step: Step): boolean {
  const { from, call, request, decision } = step;
  const data = decisionData(decision);
  const considered = consideredData(decision.considered);
  // Without a considered rule, the answer still reveals whether the Service exists.
  const isAboutHost = considered.length === 0 && !('gateway' in request.source);
  return mayReadAll(scope, [
    ...readsOfCaller(from),
    ...readsOfDecision(scope, data, considered),
    ...(isAboutHost ? readsOfHost(scope, call.host, request.source.namespace) : []),
  ]);
}

/** The reads that a node of the picture requires. */
export function readsOfCaller(id: string): readonly RequiredRead[] {
  const [first = '', second] = id.split(' ');
  if (second === undefined) return [[Deployment, namespaceIn(first)]];
  return [[first === 'gateway' ? Gateway : Service, namespaceIn(second)]];
}

/** The reads that a decision requires. */
export function readsOfDecision(
  scope: Pick<Scope, 'settings'>,
  { virtualService, delegate, superseded = [], destinations, mirrors = [] }: DecisionData,
  considered: readonly ConsideredData[] = [],
): readonly RequiredRead[] {
  const rules = [
    virtualService,
    delegate,
    ...superseded,
    ...considered.flatMap((each) => [each.virtualService, each.delegate]),
  ];
  const targets = [...destinations, ...mirrors];
  return [
    ...rules.flatMap((key): RequiredRead[] => (key === undefined ? [] : [[VirtualService, namespaceIn(key)]])),
    ...targets.flatMap(({ host }) => readsOfHost(scope, host)),
    ...targets.flatMap(({ workloads }) => workloads.map((key): RequiredRead => [Deployment, namespaceIn(key)])),
  ];
}

/** For a host of the cluster, its Service and DestinationRules; for any other host, ServiceEntries. */
function readsOfHost({ settings }: Pick<Scope, 'settings'>, host: string, from?: string): readonly RequiredRead[] {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
  const suffix = `.svc.${settings.clusterDomain}`;
  const [, namespace = from, ...rest] = (name.endsWith(suffix) ? name.slice(0, -suffix.length) : name).split('.');
  const isOfCluster = rest.length === 0 || (rest.length === 1 && rest[0] === 'svc');
  if (!isOfCluster || namespace === undefined) return [[ServiceEntry, undefined]];
  return [
    [Service, namespace],
    [DestinationRule, namespace],
  ];
}

function namespaceIn(key: string): string {
  return key.split('/')[0]!;
}
