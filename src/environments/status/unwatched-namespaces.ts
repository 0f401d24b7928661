// Objects of an environment in namespaces that the controllers no longer watch: they were made when the controllers
// watched the whole cluster. They can neither see nor remove them, so the status keeps naming them, and a deletion
// waits.
import type { ConsumerStatus, DynamicEnv, ResourceStatus, SubsetStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { PlannedCondition } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { routePrefix } from '../../traffic/istio/inserted-routes.ts';
import { messages } from './messages.ts';
import { uniqueVersion } from '../names.ts';
import type { ReasonOf } from '../reasons.ts';
import type { Settings } from '../settings.ts';

/** The condition that names what is left behind. */
const LEFT_BEHIND = 'LeftBehind';

export const LEFT_BEHIND_ADVICE =
  'let them do so until the environment is gone; or delete it, remove these by hand, and then its metadata.finalizers';

type Watched = Pick<Settings, 'namespaces'>;

/** Whether the controllers do not watch a namespace. */
export function isUnwatched({ namespace = '' }: Ref, { namespaces }: Watched): boolean {
  return namespaces !== undefined && !namespaces.includes(namespace);
}

/** Whether an entry of a status names an object in a namespace that is not watched. */
export function namesUnwatched(entry: SubsetStatus | ConsumerStatus, settings: Watched): boolean {
  return objectsOf(entry).some(({ ref }) => isUnwatched(ref, settings));
}

/** A message that names what is left behind; undefined if nothing is. */
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

/** The same, with advice. */
export function leftBehindAdvised(left: string): string {
  return `${left}: ${LEFT_BEHIND_ADVICE}`;
}

/** The condition with this message. */
export function leftBehindCondition(message: string | undefined): readonly PlannedCondition[] {
  return message === undefined
    ? []
    : [{ type: LEFT_BEHIND, status: 'True', reason: 'NamespaceNotWatched' satisfies ReasonOf<'LeftBehind'>, message }];
}

/** The message of the condition in the status. */
export function reportedLeftBehind(env: DynamicEnv): string | undefined {
  return conditionsOf(env).find(({ type, status }) => type === LEFT_BEHIND && status === 'True')?.message;
}

/** The existing objects that an entry of a status names. */
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
