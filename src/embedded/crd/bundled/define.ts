// Makes small CustomResourceDefinitions: the names and columns of a kind, with any content.
import type { ApiObject } from '../../resource.ts';

export interface Column {
  readonly name: string;
  readonly path: string;
  readonly type?: 'string' | 'date' | 'integer';
  readonly description?: string;
}

export interface KindOutline {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  /** The first is the storage version. */
  readonly versions: readonly [string, ...string[]];
  readonly columns?: readonly Column[];
  readonly annotations?: Readonly<Record<string, string>>;
}

const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const age: Column = { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' };

/** A definition whose objects may have any spec and status. */
export function outline(kind: KindOutline): ApiObject {
  const columns = [...(kind.columns ?? []), age].map(({ name, path, type = 'string', description }) => ({
    name,
    type,
    jsonPath: path,
    ...(description !== undefined && { description }),
  }));
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${kind.group}`,
      ...(kind.annotations !== undefined && { annotations: kind.annotations }),
    },
    spec: {
      group: kind.group,
      scope: kind.cluster === true ? 'Cluster' : 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        ...(kind.shortNames !== undefined && { shortNames: kind.shortNames }),
        ...(kind.categories !== undefined && { categories: kind.categories }),
      },
      conversion: { strategy: 'None' },
      versions: kind.versions.map((version, index) => ({
        name: version,
        served: true,
        storage: index === 0,
        subresources: { status: {} },
        additionalPrinterColumns: columns,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anyObject, status: anyObject } } },
      })),
    },
  };
}
