// CustomResourceDefinitions: names are accepted or not at once, and deletion waits until all objects are deleted.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { acceptedStatus } from '../../crd/index.ts';
import type { Cluster } from '../context.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

export const definitionCollection = 'customresourcedefinitions.apiextensions.k8s.io';

/** The finalizer that keeps a definition until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Defaults the singular name, the list kind and the conversion strategy. */
function withDefaults(object: AnyObject): AnyObject {
  const spec = part(object, 'spec');
  const names = part(spec, 'names');
  const { kind } = names;
  if (typeof kind !== 'string' || kind === '') return object;
  const conversion = spec['conversion'] ?? { strategy: 'None' };
  const full = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  return { ...object, spec: { ...spec, names: full, conversion } };
}

function withAcceptedStatus(object: AnyObject, cluster: Cluster): AnyObject {
  const complete = withDefaults(object);
  const others = cluster.store.list(definitionCollection).map((stored) => stored.object);
  return { ...complete, status: acceptedStatus(complete, others, timestamp(Date.now())) };
}

export const definitionRules: KindRules = {
  needsVersion: true,
  prepareCreate: withAcceptedStatus,
  prepareUpdate: (next, _old, cluster, target) =>
    target.subresource === 'status' ? next : withAcceptedStatus(next, cluster),
  deletionFinalizer: cleanupFinalizer,
  prepareDelete: (object) =>
    withTerminating(
      object,
      'InstanceDeletionPending',
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    ),
};

/** Sets the condition Terminating of a definition. */
export function withTerminating(object: AnyObject, reason: string, message: string): AnyObject {
  const status = part(object, 'status');
  const conditions = items(status, 'conditions');
  const before = conditions.find((condition) => condition['type'] === 'Terminating');
  const lastTransitionTime = before?.['status'] === 'True' ? before['lastTransitionTime'] : timestamp(Date.now());
  const terminating = { type: 'Terminating', status: 'True', reason, message, lastTransitionTime };
  const others = conditions.filter((condition) => condition !== before);
  return { ...object, status: { ...status, conditions: [...others, terminating] } };
}
