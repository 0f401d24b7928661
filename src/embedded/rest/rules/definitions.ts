// Custom resource definitions: accepted or not at once, and kept at their end until their objects are gone.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { acceptedStatus } from '../../crd/index.ts';
import type { Cluster } from '../context.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

export const definitionCollection = 'customresourcedefinitions.apiextensions.k8s.io';

/** Stays on a definition until its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** The names default to what everybody would choose. */
function named(object: AnyObject): AnyObject {
  const spec = part(object, 'spec');
  const names = part(spec, 'names');
  const { kind } = names;
  if (typeof kind !== 'string' || kind === '') return object;
  const conversion = spec['conversion'] ?? { strategy: 'None' };
  const full = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...names };
  return { ...object, spec: { ...spec, names: full, conversion } };
}

function reviewed(object: AnyObject, cluster: Cluster): AnyObject {
  const complete = named(object);
  const others = cluster.store.list(definitionCollection).map((stored) => stored.object);
  return { ...complete, status: acceptedStatus(complete, others, timestamp(Date.now())) };
}

export const definitionRules: KindRules = {
  needsVersion: true,
  prepareCreate: reviewed,
  prepareUpdate: (next, _old, cluster, target) => (target.subresource === 'status' ? next : reviewed(next, cluster)),
  deletionFinalizer: cleanupFinalizer,
  prepareDelete: (object) =>
    withTerminating(
      object,
      'InstanceDeletionPending',
      'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    ),
};

/** A definition that says how far its end has come. */
export function withTerminating(object: AnyObject, reason: string, message: string): AnyObject {
  const status = part(object, 'status');
  const conditions = items(status, 'conditions');
  const before = conditions.find((condition) => condition['type'] === 'Terminating');
  const lastTransitionTime = before?.['status'] === 'True' ? before['lastTransitionTime'] : timestamp(Date.now());
  const terminating = { type: 'Terminating', status: 'True', reason, message, lastTransitionTime };
  const others = conditions.filter((condition) => condition !== before);
  return { ...object, status: { ...status, conditions: [...others, terminating] } };
}
