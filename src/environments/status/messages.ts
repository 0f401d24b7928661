// Messages in the status. People and tests rely on them, so they are contract to the letter, typos included.
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject, Ref } from '../../kube/objects.ts';
import { CRASH_LOOP } from '../clone/pods.ts';
import type { Overlap } from '../../traffic/prove/overlap.ts';
import type { Conflict } from '../requests/conflicts.ts';

const ONLY_BASE = 'add a label that only the base has to its selector';

export const messages = {
  noBaseDeployment: ({ name, namespace }: Ref) =>
    `couldn't find the deployment we need to override (name: ${name}, ns: ${namespace}), Deployment.apps "${name}" not found`,
  baseIsClone: (base: string, env: string) =>
    `Deployment ${base} is the clone that environment ${env} made: name the Deployment that it was cloned from`,
  noReplicas: ({ name }: Ref) =>
    `${name} has 0 replicas, so nothing would answer: set 1 or more, or put the environment to sleep (offshoot env sleep)`,
  changeHeldBack: 'changes to it are not applied while the environment is paused',
  noContainer: (list: 'containers' | 'init-containers', subset: string, container: string) =>
    `processing ${list} in subset ${subset}: container name ${container} does'nt exist`,
  cloneNotUpdated: (clone: string, why: string) => `error updating subset ${clone}: ${why}`,
  noService: (deployment: string, labels: Readonly<Record<string, string>>, namespace: string) =>
    `locating service hostname for deployment '${deployment}': couldn't find service with matching labels: (${Object.entries(
      labels,
    )
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(',')}) in namespace: ${namespace}`,
  noServiceOfClone: (services: readonly string[]) =>
    `no service selects the pods of the clone: the selector of ${services.join(', ')} asks for labels that only the base has`,
  serviceOfBaseOnly: (service: string) =>
    `Service ${service} selects the base but not its clone: requests through it do not reach the environment`,
  noDestinationRule: (clone: string) => `no base destination rules were found for subset: ${clone}`,
  ruleNotMade: (service: string, clone: string, rule: string, why: string) =>
    `creating destination rule for '${service}': error deploying new destination rule version="${clone}" service-host="${rule}": ${why}`,
  ruleNotUpdated: (service: string, why: string) => `updating destination rule for '${service}': ${why}`,
  routesNotUpdated: (clone: string, service: string, why: string) =>
    `error updating virtual service for subset (${clone}): VirtualService ${service}: ${why}`,
  notRemoved: (object: string, why: string) => `${object} could not be removed: ${why}`,
  removing: 'removing its objects',
  held: (object: string, finalizers: readonly string[]) =>
    `${object} waits for finalizers that others added: ${finalizers.join(', ')}`,
  routesNotRemoved: (service: string, why: string) =>
    `routes could not be removed from VirtualService ${service}: ${why}`,
  noVirtualService: (clone: string, key: string) =>
    `error updating virtual service for subset (${clone}): could not find even one virtual service that handles subset "${key}"`,
  noDelegate: ({ name, namespace }: Ref) => [
    `Wierd, Couldn't find a service with name: ${name}, namespace: ${namespace}, in the service list`,
    `Delegate (${namespace}/${name}) not found`,
  ],
  noCommonHost: () => "Couldn't find common active service hostname across DestinationRules and VirtualServices",
  selectorLabel: (subset: string, label: string) =>
    `processing podLabels in subset ${subset}: label ${label} can't be changed, because the Deployment selects its pods by it`,
  notServed: ({ plural, group }: { readonly plural: string; readonly group: string }) =>
    `the cluster does not know ${plural}.${group}: install Istio`,
  skippedVirtualServices: (host: string, why: string) => `leads to ${host} and is not changed: ${why}`,
  ruledByCallers: ({ metadata }: KubeObject, host: string, version: string) =>
    `requests from pods in namespace ${metadata.namespace} to ${host} fail: they use DestinationRule ${keyOf(metadata)} there, which has no subset "${version}"`,
  leftOut: (match: string, why: string) => `${match} is skipped: ${why}`,
  leftIn: (match: string, by: 'proxies' | 'Istio', why: string, services: readonly string[]) =>
    `${match} is refused by ${by}: ${why}; its routes in VirtualService ${services.join(', ')} block all route updates there: unset spec.paused, and they are removed`,
  shadowed: (other: string, match: string, key: string) =>
    `${other} came first and gets the requests of ${match} (${key})`,
  mayBeShadowed: (other: string, match: string, key: string) =>
    `${other} came first and may take the requests of ${match} (${key}): whether it takes all of them can't be determined`,
  labelsAtGateway: (gateways: readonly string[]) =>
    `a source label never matches at a gateway (${gateways.join(', ')}), where callers are outside the mesh`,
  labelsBelowGateway: (root: string) =>
    `source labels are ignored under a match that names gateways, such as that of VirtualService ${root}, which delegates to it`,
  leftOutBelow: (root: string, on: string) =>
    `Istio drops it where VirtualService ${root} delegates, because the two disagree on ${on}`,
  routeLeftOut: (match: string, key: string, why: string) => `the route of ${match} (${key}): ${why}`,
  superseded: (service: KubeObject, host: string, winner: KubeObject) =>
    `VirtualService ${keyOf(service.metadata)} is ignored in the mesh for ${host}: VirtualService ${keyOf(winner.metadata)} is older, and Istio uses only one`,
  takenBy: (taker: string) => `${taker} takes all of the requests`,
  withoutEffect: (why: readonly string[]) => `its routes have no effect: ${why.join(', ')}`,
  notRouted: (why: string | undefined) => `no route leads to it${why === undefined ? '' : `: ${why}`}`,
  gotNothing: (takers: readonly string[]) => `all of its requests are taken by ${takers.join(', ')}`,
  waitsForClone: (seconds: number) =>
    seconds === 0
      ? 'not routed yet: its routes wait for the clone'
      : `not routed yet: its routes wait for the clone for up to ${seconds} s, after which requests fail until it runs`,
  hasRoutes: 'every subset has routes',
  unanswered: (why: string) => `requests fail: ${why}`,
  routedEarly: (clone: string, seconds: number, why: string | undefined) =>
    `requests are routed to Deployment ${clone}, which is not running after ${seconds} s${why === undefined ? '' : ` (${why})`}: they fail until it is`,
  noPod: (problem: { readonly reason: string; readonly message: string } | undefined) => {
    const isUp = problem?.reason === CRASH_LOOP ? 'stays up' : 'is ready';
    return `no pod of the clone ${isUp}${problem === undefined ? '' : ` (${problem.message})`}`;
  },
  fitsNothing: (match: string, entry: number | undefined, why: string) =>
    `no request of ${entry === undefined ? 'this route' : `match[${entry}]`} fits ${match}, because ${why}`,
  conflict: (conflict: Conflict) => {
    const { relation, other, workload, match, example } = conflict;
    const asks = {
      same: `asks for the same requests to ${workload}`,
      covered: `asks for all of these requests to ${workload}, and for others`,
      overlapping: `asks for some of these requests to ${workload}`,
      undecided: `may ask for some of these requests to ${workload}, which can't be determined`,
    };
    const such = example === undefined ? '' : `, such as ${exampleText(example)}`;
    return `${match}: environment ${other} ${asks[relation]}${such}: ${orderText(conflict)}`;
  },
  budgetOfBoth: (budget: string, { name }: Ref) =>
    `PodDisruptionBudget ${budget} counts the pods of ${name} too, so more pods of the base can be evicted: ${ONLY_BASE}`,
  autoscalerOfBoth: (scaler: string, { name }: Ref) =>
    `HorizontalPodAutoscaler ${scaler} measures the pods of ${name} too, because the selector of the Deployment that it scales matches them`,
  policyOfBoth: (policy: string, { name }: Ref) =>
    `NetworkPolicy ${policy} applies to the pods of ${name} too: if it should not, ${ONLY_BASE}`,
  duplicate: (key: string) => `It seems that the following deployment appears in more then one subset/consumer: ${key}`,
  foreign: (kind: string, { name, namespace }: Ref) =>
    `${kind} ${namespace}/${name} exists and is not part of this environment: rename or remove it`,
  invalidName: (version: string) =>
    `"${version}", made from namespace and name, is not a valid subset name: use letters, digits and hyphens, and no hyphen as the 40th character`,
  outsideNamespace: (path: string, { name, namespace }: Ref, own: string) =>
    `${path}: Deployment ${namespace}/${name} is in another namespace: the controllers watch only selected namespaces (--namespaces), where nothing checks whether the author may deploy to ${namespace}; use Deployments in ${own}`,
  leftBehind: (objects: readonly string[], namespaces: readonly string[]) =>
    `${objects.join(', ')} can't be removed, because the controllers no longer watch ${namespaces.join(', ')} (--namespaces)`,
  collision: (other: string, own: string, version: string) =>
    `environments ${other} and ${own} would both be named "${version}": rename one of them`,
} as const;

/** Which of two environments comes first. A third one may precede both, so it does not say which gets the requests. */
function orderText({ isLater, isTie, firstSleeps }: Conflict): string {
  const first = isLater ? 'it' : 'this one';
  const why = isTie
    ? `both were created in the same second, and ${first} comes first by its name`
    : `${first} was created first`;
  if (firstSleeps) return `${why}, but is asleep and gets nothing until it is woken`;
  return isTie ? why : `${why}, so its routes come first`;
}

/** A request in words: its headers and its source. */
function exampleText({ headers = {}, source }: Overlap['example'] & {}): string {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  const labels = Object.entries(source.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const parts = [
    ...(named.length > 0 ? [`with ${named.join(' and ')}`] : []),
    ...(labels.length > 0 ? [`from a pod with ${labels.join(',')}`] : []),
  ];
  return `a request ${parts.join(' ')}`;
}
