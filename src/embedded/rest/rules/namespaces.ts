// Namespaces are Terminating until their content is deleted and the `kubernetes` finalizer of their spec is removed.
import type { AnyObject } from '../../../kube/objects.ts';
import type { KindRules } from './types.ts';
import { part } from './types.ts';

function finalizersOf(object: AnyObject): readonly unknown[] {
  const finalizers = part(object, 'spec')['finalizers'];
  return Array.isArray(finalizers) ? finalizers : [];
}

const permanent = new Set(['default', 'kube-system', 'kube-public']);

export const namespaceRules: KindRules = {
  isPermanent: ({ metadata }) => permanent.has(metadata.name),
  prepareUpdate: (next, old, _cluster, target) =>
    target.subresource === 'finalize' ? { ...next, status: old['status'] } : next,
  prepareDelete: (object) => {
    // Namespaces have no grace period.
    const { deletionGracePeriodSeconds: _grace, ...metadata } = object.metadata;
    return { ...object, metadata, status: { ...part(object, 'status'), phase: 'Terminating' } };
  },
  isHeld: (object) => finalizersOf(object).length > 0,
  returnsDeleted: true,
};
