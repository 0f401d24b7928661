// Whether somebody may read all that a decision about a request is made of. It is made by all rules, whoever looks: one by
// the rules that they may read alone would be wrong. So it is shown as a whole, or not at all.
import type { ConsideredData, DecisionData } from '../../traffic/index.ts';
import { consideredData, decisionData } from '../../traffic/index.ts';
import { DestinationRule, Gateway, ServiceEntry, VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment, Service } from '../../traffic/services.ts';
import type { Resource, Scope } from './scope.ts';
import type { Step } from './walk.ts';

type Need = readonly [resource: Resource, namespace: string | undefined];

/** Whether all of it may be read. Every right is looked at, so that those which are not known are asked for at once. */
export function mayReadAll({ may }: Pick<Scope, 'may'>, needs: readonly Need[]): boolean {
  return needs.map(([resource, namespace]) => may('list', resource, namespace)).every(Boolean);
}

/** Whether a step may be shown: who calls, the rules that were looked at, and where it goes. */
export function isVisible(scope: Scope, step: Step): boolean {
  const { from, call, request, decision } = step;
  const data = decisionData(decision);
  const considered = consideredData(decision.considered);
  // Where no rule is looked at, the answer says whether there is such a Service.
  const isAboutHost = considered.length === 0 && !('gateway' in request.source);
  return mayReadAll(scope, [
    ...needsOfCaller(from),
    ...needsOfDecision(scope, data, considered),
    ...(isAboutHost ? needsOfHost(scope, call.host, request.source.namespace) : []),
  ]);
}

/** What must be read for a node of the picture. */
export function needsOfCaller(id: string): readonly Need[] {
  const [first = '', second] = id.split(' ');
  if (second === undefined) return [[Deployment, namespaceIn(first)]];
  return [[first === 'gateway' ? Gateway : Service, namespaceIn(second)]];
}

/** What a decision tells of. */
export function needsOfDecision(
  scope: Pick<Scope, 'settings'>,
  { virtualService, delegate, superseded = [], destinations, mirrors = [] }: DecisionData,
  considered: readonly ConsideredData[] = [],
): readonly Need[] {
  const rules = [
    virtualService,
    delegate,
    ...superseded,
    ...considered.flatMap((each) => [each.virtualService, each.delegate]),
  ];
  const targets = [...destinations, ...mirrors];
  return [
    ...rules.flatMap((key): Need[] => (key === undefined ? [] : [[VirtualService, namespaceIn(key)]])),
    ...targets.flatMap(({ host }) => needsOfHost(scope, host)),
    ...targets.flatMap(({ workloads }) => workloads.map((key): Need => [Deployment, namespaceIn(key)])),
  ];
}

/** Of a host of the cluster, its Service and the rules for it; of any other, what may make it known to the mesh. */
function needsOfHost({ settings }: Pick<Scope, 'settings'>, host: string, from?: string): readonly Need[] {
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
