// The roles of the parts as an installation binds them: in the whole cluster, or in single namespaces.
import type { AnyObject } from '../../kube/objects.ts';
import type { PartData } from './chart-data.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

/** API groups of cluster-scoped resources, of resources that only the webhook uses, and of Leases of other namespaces. */
const WHOLE_CLUSTER = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'authorization.k8s.io',
  'coordination.k8s.io',
]);

/** A role or binding for the installation in a namespace. */
export function inNamespace(object: AnyObject, namespace: string): AnyObject {
  const subjects = object['subjects'] as readonly { readonly kind: string }[] | undefined;
  return {
    ...object,
    metadata: { ...object.metadata, ...(object.metadata.namespace !== undefined && { namespace }) },
    ...(subjects && {
      subjects: subjects.map((each) => (each.kind === 'ServiceAccount' ? { ...each, namespace } : each)),
    }),
  };
}

/** Roles in these namespaces instead of ClusterRoles, and the Role for the Lease. */
export function limitedPermissions(
  parts: readonly PartData[],
  namespaces: readonly string[],
  installedIn: string,
): readonly AnyObject[] {
  const bound = parts.flatMap(({ name, permissions }) => {
    const cluster = permissions.filter(
      ({ kind, metadata }) => kind.startsWith('Cluster') && metadata.name === `offshoot-${name}`,
    );
    return namespaces.flatMap((namespace) =>
      cluster.map((object) => limited(inNamespace(object, installedIn), namespace)),
    );
  });
  const own = parts.flatMap(({ permissions }) => permissions.filter(({ kind }) => !kind.startsWith('Cluster')));
  // Without a webhook there is no certificate Secret.
  return [...own.map((object) => withRules(inNamespace(object, installedIn), isNoSecret)), ...bound];
}

function limited(object: AnyObject, namespace: string): AnyObject {
  const kind = object.kind.replace('Cluster', '');
  const roleRef = object['roleRef'] as object | undefined;
  return withRules(
    {
      ...object,
      kind,
      metadata: { ...object.metadata, namespace },
      ...(roleRef && { roleRef: { ...roleRef, kind: 'Role' } }),
    },
    ({ apiGroups }) => !apiGroups.some((group) => WHOLE_CLUSTER.has(group)),
  );
}

function isNoSecret({ resources }: Rule): boolean {
  return !resources.includes('secrets');
}

function withRules(object: AnyObject, isKept: (rule: Rule) => boolean): AnyObject {
  const rules = object['rules'] as readonly Rule[] | undefined;
  return { ...object, ...(rules && { rules: rules.filter(isKept) }) };
}
