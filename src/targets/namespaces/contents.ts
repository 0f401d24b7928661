// What is created in the namespace of a target: an account that may deploy there, and the limits of its class.
import type { NamespaceParameters } from '../provisioning/parameters.ts';
import { LimitRange, NetworkPolicy, ResourceQuota, RoleBinding, ServiceAccount } from '../objects.ts';
import type { NamespaceContent } from '../objects.ts';
import { LAST_CLAIM } from '../names.ts';
import { ACCOUNT, MADE_BY, MADE_BY_LABEL } from './names.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAME = 'offshoot';

/** The account that may deploy to a namespace; it does not depend on the class. */
export function accountOf(namespace: string, lastClaim: string | undefined): NamespaceContent[] {
  const metadata = { name: ACCOUNT, namespace, labels: { [MADE_BY_LABEL]: MADE_BY } };
  const annotations = lastClaim === undefined ? {} : { annotations: { [LAST_CLAIM]: lastClaim } };
  return [
    {
      kind: ServiceAccount,
      object: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { ...metadata, ...annotations } },
    },
    {
      kind: RoleBinding,
      object: {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }],
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'edit' },
      },
    },
  ];
}

/** The quota, limits and network policy of a class. */
export function limitsOf(namespace: string, parameters: NamespaceParameters): NamespaceContent[] {
  const metadata = (name: string) => ({ name, namespace, labels: { [MADE_BY_LABEL]: MADE_BY } });
  const { quota, limits, networkPolicy, allowFrom } = parameters;
  const contents: NamespaceContent[] = [];
  if (quota !== undefined) {
    const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: metadata(NAME), spec: { hard: quota } };
    contents.push({ kind: ResourceQuota, object });
  }
  if (limits !== undefined) {
    const spec = { limits: [{ type: 'Container', ...withDefaults(limits) }] };
    contents.push({
      kind: LimitRange,
      object: { apiVersion: 'v1', kind: 'LimitRange', metadata: metadata(NAME), spec },
    });
  }
  if (networkPolicy === 'isolated') {
    const named = (name: string) => ({
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    });
    const from = [{ podSelector: {} }, ...allowFrom.map(named)];
    const spec = { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] };
    contents.push({
      kind: NetworkPolicy,
      object: { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: metadata(NAME), spec },
    });
  }
  return contents;
}

/** Limits with the defaults that the server would fill in, so that a later process finds nothing to write. */
function withDefaults({ max, ...limits }: NonNullable<NamespaceParameters['limits']>) {
  const inherited = { ...max, ...limits.default };
  const requested = { ...inherited, ...limits.defaultRequest };
  const isNotEmpty = (quantities: object): boolean => Object.keys(quantities).length > 0;
  return {
    ...(max && { max }),
    ...(isNotEmpty(inherited) && { default: inherited }),
    ...(isNotEmpty(requested) && { defaultRequest: requested }),
  };
}
