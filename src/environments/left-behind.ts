// What an environment has in namespaces that the controllers no longer manage: it was made when they managed the
// whole cluster. They can neither see nor remove it there, so the status keeps naming it, and a deletion waits.
import type { ConsumerStatus, DynamicEnv, ResourceStatus, SubsetStatus } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import type { PlannedCondition } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import type { Ref } from '../kube/index.ts';
import { routePrefix } from '../traffic/istio/inserted-routes.ts';
import { messages } from './messages.ts';
import { uniqueVersion } from './names.ts';
import type { ReasonOf } from './reasons.ts';
import type { Settings } from './settings.ts';

/** The condition that names what is left behind. */
const LEFT_BEHIND = 'LeftBehind';

export const LEFT_BEHIND_ADVICE =
  'let them do so until the environment is gone; or delete it, remove these by hand, and then its metadata.finalizers';

type Watched = Pick<Settings, 'namespaces'>;

/** Whether nobody manages a namespace. */
export function isUnwatched({ namespace = '' }: Ref, { namespaces }: Watched): boolean {
  return namespaces !== undefined && !namespaces.includes(namespace);
}

/** Whether an entry of a status names something in a namespace that nobody manages. */
export function namesUnwatched(entry: SubsetStatus | ConsumerStatus, settings: Watched): boolean {
  return objectsOf(entry).some(({ ref }) => isUnwatched(ref, settings));
}

/** What is left behind; undefined if nothing is. */
export function leftBehind(env: DynamicEnv, settings: Watched): string | undefined {
  const { subsetsStatus = {}, consumersStatus = {} } = env.status ?? {};
  const entries = [...Object.values(subsetsStatus), ...Object.values(consumersStatus)];
  const left = entries.flatMap(objectsOf).filter(({ ref }) => isUnwatched(ref, settings));
  if (left.length === 0) return undefined;
  const routes = `${routePrefix(uniqueVersion(env.metadata))}*`;
  const texts = left.map(({ kind, ref }) => {
    const object = `${kind} ${keyOf(ref)}`;
    return kind === 'VirtualService' ? `the routes ${routes} of ${object}` : object;
  });
  const namespaces = new Set(left.map(({ ref }) => ref.namespace ?? ''));
  return messages.leftBehind([...new Set(texts)], [...namespaces].sort());
}

/** The same, with what to do about it. */
export function leftBehindAdvised(left: string): string {
  return `${left}: ${LEFT_BEHIND_ADVICE}`;
}

/** The condition that says so. */
export function leftBehindCondition(message: string | undefined): readonly PlannedCondition[] {
  return message === undefined
    ? []
    : [{ type: LEFT_BEHIND, status: 'True', reason: 'NamespaceNotWatched' satisfies ReasonOf<'LeftBehind'>, message }];
}

/** What the status of an environment says is left behind. */
export function toldLeftBehind(env: DynamicEnv): string | undefined {
  return conditionsOf(env).find(({ type, status }) => type === LEFT_BEHIND && status === 'True')?.message;
}

/** The objects that an entry of a status names, as far as they were there. */
function objectsOf(entry: SubsetStatus | ConsumerStatus): readonly { readonly kind: string; readonly ref: Ref }[] {
  const isSubset = 'deployment' in entry;
  const clone = isSubset ? entry.deployment : entry;
  const { destinationRules = [], virtualServices = [] } = isSubset ? entry : {};
  const running = (kind: string, refs: readonly ResourceStatus[]) =>
    refs.filter(({ status }) => status === 'running').map((ref) => ({ kind, ref }));
  return [
    ...(clone.name === '' || clone.status === 'missing' ? [] : [{ kind: 'Deployment', ref: clone }]),
    ...running('DestinationRule', destinationRules),
    ...running('VirtualService', virtualServices),
  ];
}
