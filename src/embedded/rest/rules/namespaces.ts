// Namespaces stay, terminating, until their content is gone and the `kubernetes` finalizer of their spec is removed.
import type { AnyObject } from '../../../kube/objects.ts';
import type { KindRules } from './types.ts';
import { part } from './types.ts';

const nameLabel = 'kubernetes.io/metadata.name';

function labelled(object: AnyObject): AnyObject {
  const { name, labels } = object.metadata;
  if (labels?.[nameLabel] === name) return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...labels, [nameLabel]: name } } };
}

function finalizersOf(object: AnyObject): readonly unknown[] {
  const finalizers = part(object, 'spec')['finalizers'];
  return Array.isArray(finalizers) ? finalizers : [];
}

export const namespaceRules: KindRules = {
  prepareCreate: (object) => ({
    ...labelled(object),
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  }),
  prepareUpdate: (next, old, _cluster, target) => {
    if (target.subresource === 'finalize') return { ...old, spec: { ...part(next, 'spec') } };
    return { ...labelled(next), spec: old['spec'] };
  },
  prepareDelete: (object) => ({ ...object, status: { ...part(object, 'status'), phase: 'Terminating' } }),
  holds: (object) => finalizersOf(object).length > 0,
  returnsDeleted: true,
};
