// What is in a namespace that is made into a target: an account that may deploy there, and the limits of its class.
import type { NamespaceParameters } from '../provisioning/parameters.ts';
import { LimitRange, NetworkPolicy, ResourceQuota, RoleBinding, ServiceAccount } from '../objects.ts';
import type { NamespaceContent } from '../objects.ts';
import { LAST_CLAIM } from '../names.ts';
import { ACCOUNT, MADE_BY, MADE_BY_LABEL } from './names.ts';

const RBAC = 'rbac.authorization.k8s.io';
const NAME = 'offshoot';

/** The account that may deploy to a namespace, which does not depend on its class. */
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

/** The limits that a class puts into a namespace. */
export function limitsOf(namespace: string, parameters: NamespaceParameters): NamespaceContent[] {
  const metadata = (name: string) => ({ name, namespace, labels: { [MADE_BY_LABEL]: MADE_BY } });
  const { quota, limits, networkPolicy, allowFrom } = parameters;
  const contents: NamespaceContent[] = [];
  if (quota !== undefined) {
    const object = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: metadata(NAME), spec: { hard: quota } };
    contents.push({ kind: ResourceQuota, object });
  }
  if (limits !== undefined) {
    const spec = { limits: [{ type: 'Container', ...completed(limits) }] };
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

/** Limits with what the server would fill in: what is stored is then what is applied, and no later process writes it. */
function completed({ max, ...limits }: NonNullable<NamespaceParameters['limits']>) {
  const inherited = { ...max, ...limits.default };
  const requested = { ...inherited, ...limits.defaultRequest };
  const isSome = (quantities: object): boolean => Object.keys(quantities).length > 0;
  return {
    ...(max && { max }),
    ...(isSome(inherited) && { default: inherited }),
    ...(isSome(requested) && { defaultRequest: requested }),
  };
}
