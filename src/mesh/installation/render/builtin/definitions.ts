// Definitions of Istio's kinds, with their names, but without a schema for their contents.
import type { AnyObject } from '../../../../kube/index.ts';
import { ISTIO_KINDS } from '../../../istio-kinds.ts';
import { clusterWide } from './objects.ts';

const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** One CustomResourceDefinition for each kind. */
export function definitions(): readonly AnyObject[] {
  return ISTIO_KINDS.map(({ group, versions, kind, plural, shortNames }) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: clusterWide(`${plural}.${group}`, 'Base'),
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames && { shortNames }),
        categories: ['istio-io', group.replaceAll('.', '-')],
      },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: ANYTHING, status: ANYTHING } } },
      })),
    },
  }));
}
