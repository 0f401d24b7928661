// The state of a cluster that concerns environments, without what depends on the time and number of writes. Used to
// compare two runs that must end in the same state.
import { WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import { withAnnotations } from '../../src/kube/annotations.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind, keyOf } from '../../src/kube/objects.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { lasting } from '../scenarios/sweep.ts';
import type { State } from '../scenarios/sweep.ts';

export const KINDS = [
  defineKind('riskified.com/v1alpha1', 'DynamicEnv', 'dynamicenvs'),
  defineKind('apps/v1', 'Deployment', 'deployments'),
  defineKind('v1', 'Service', 'services'),
  defineKind('networking.istio.io/v1beta1', 'DestinationRule', 'destinationrules'),
  defineKind('networking.istio.io/v1beta1', 'VirtualService', 'virtualservices'),
];

/** All objects except those that the cluster starts with. The status of rollouts is left out. */
export async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  const objects = lists.flatMap(({ items }) => items).filter(({ metadata }) => metadata.namespace !== 'default');
  return Object.fromEntries(
    objects.map((object) => {
      const { status, ...rest } = sorted(object);
      const withStatus =
        object.kind === 'Deployment' || status === undefined ? rest : { ...rest, status: timeless(status) };
      return [`${object.kind} ${keyOf(object.metadata)}`, lasting(withStatus)];
    }),
  );
}

/** Sorts the annotation of a VirtualService, which lists environments in the order in which they got routes. */
function sorted(object: AnyObject): AnyObject {
  const names = object.metadata.annotations?.[WATCH_ANNOTATION];
  if (!names) return object;
  return withAnnotations(object, { [WATCH_ANNOTATION]: names.split(',').toSorted().join() });
}

/** Clears the message of Conflicted, which differs if both environments were created in the same second. */
function timeless(status: unknown): unknown {
  const { conditions = [], ...rest } = status as { conditions?: readonly { type?: string; message?: string }[] };
  return {
    ...rest,
    conditions: conditions.map((each) => (each.type === 'Conflicted' ? { ...each, message: '' } : each)),
  };
}

/** The same without environments, and without the empty annotation that they leave. */
export function withoutTraces(state: State): State {
  const others = Object.entries(state).filter(([key]) => !key.startsWith('DynamicEnv '));
  return Object.fromEntries(
    others.map(([key, object]) => {
      const { metadata, ...rest } = object as AnyObject;
      const { [WATCH_ANNOTATION]: names, ...annotations } = metadata.annotations ?? {};
      const kept = names ? metadata.annotations : annotations;
      const { annotations: _all, ...plain } = metadata;
      return [key, { ...rest, metadata: Object.keys(kept ?? {}).length > 0 ? { ...plain, annotations: kept } : plain }];
    }),
  );
}
