// Tiers: templates of the namespaces of a space and their contents.
import { createHash } from 'node:crypto';
import type { Space } from '../../api/spaces.ts';
import { LAST_CLAIM, REQUESTED_NAMESPACE, SANDBOX_TIER } from '../names.ts';
import { LimitRange, NetworkPolicy, ResourceQuota, Role, RoleBinding, ServiceAccount } from '../objects.ts';
import type { NamespaceContent, Namespace } from '../objects.ts';
import type { Members } from './members.ts';
import { PROVIDER, PROVIDER_LABEL, SPACE_LABEL, TEMPLATE_LABEL, TIER_LABEL, TYPE_LABEL } from './names.ts';

export interface Tier {
  readonly name: string;
  /** The service account whose credentials a space request gets; none without it. */
  readonly serviceAccount?: string;
  /** The namespaces of a space and their contents. The tier decides what members may do there. */
  namespaces(space: Space, members: Members): readonly TierNamespace[];
}

export interface TierNamespace {
  readonly namespace: Namespace;
  readonly contents: readonly NamespaceContent[];
}

const ACCOUNT = 'namespace-manager';
const RBAC = 'rbac.authorization.k8s.io';

/** A namespace to deploy to, with a service account; users get no permissions in it. */
const sandbox: Tier = {
  name: SANDBOX_TIER,
  serviceAccount: ACCOUNT,
  namespaces: (space) => {
    const { name } = space.metadata;
    const type = space.metadata.annotations?.[REQUESTED_NAMESPACE] ?? 'env';
    const namespace = `${name}-${type}`;
    const lastClaim = space.metadata.annotations?.[LAST_CLAIM];
    return [{ namespace: namespaceOf(name, namespace), contents: contentsOf(name, namespace, lastClaim) }];
  },
};

function namespaceOf(space: string, name: string): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      labels: {
        name,
        'argocd.argoproj.io/managed-by': 'gitops-service-argocd',
        'appstudio.redhat.com/workspace_name': space,
        [PROVIDER_LABEL]: PROVIDER,
        [SPACE_LABEL]: space,
        [TIER_LABEL]: SANDBOX_TIER,
        [TYPE_LABEL]: 'env',
        [TEMPLATE_LABEL]: `${SANDBOX_TIER}-env`,
      },
      annotations: {
        'openshift.io/description': space,
        'openshift.io/display-name': space,
        'openshift.io/requester': space,
      },
    },
  };
}

function contentsOf(space: string, namespace: string, lastClaim: string | undefined): NamespaceContent[] {
  const metadata = (name: string) => ({
    name,
    namespace,
    labels: { [PROVIDER_LABEL]: PROVIDER, [SPACE_LABEL]: space },
  });
  const account = {
    ...metadata(ACCOUNT),
    ...(lastClaim !== undefined && { annotations: { [LAST_CLAIM]: lastClaim } }),
  };
  const core = { apiVersion: 'v1' };
  const rbac = { apiVersion: `${RBAC}/v1` };
  const subjects = [{ kind: 'ServiceAccount', name: ACCOUNT, namespace }];
  const roleRef = (kind: string, name: string) => ({ apiGroup: RBAC, kind, name });
  const quota = (name: string, spec: unknown): NamespaceContent => ({
    kind: ResourceQuota,
    object: { ...core, kind: 'ResourceQuota', metadata: metadata(name), spec },
  });
  return [
    { kind: ServiceAccount, object: { ...core, kind: 'ServiceAccount', metadata: account } },
    {
      kind: RoleBinding,
      object: {
        ...rbac,
        kind: 'RoleBinding',
        metadata: metadata(ACCOUNT),
        subjects,
        roleRef: roleRef('ClusterRole', 'edit'),
      },
    },
    {
      kind: Role,
      object: { ...rbac, kind: 'Role', metadata: metadata('additional-argocd-read'), rules: readRules },
    },
    {
      kind: RoleBinding,
      object: {
        ...rbac,
        kind: 'RoleBinding',
        metadata: metadata('additional-argocd-read'),
        subjects,
        roleRef: roleRef('Role', 'additional-argocd-read'),
      },
    },
    quota('compute-deploy', {
      scopes: ['NotTerminating'],
      hard: { 'limits.cpu': '20', 'limits.memory': '32Gi', 'requests.cpu': '1750m', 'requests.memory': '32Gi' },
    }),
    quota('compute-build', {
      scopes: ['Terminating'],
      hard: {
        'limits.cpu': '0',
        'limits.memory': '0',
        'requests.cpu': '0',
        'requests.memory': '0',
        pods: '0',
      },
    }),
    quota('storage', {
      hard: {
        'limits.ephemeral-storage': '50Gi',
        'requests.ephemeral-storage': '50Gi',
        'requests.storage': '50Gi',
        'count/persistentvolumeclaims': '12',
      },
    }),
    {
      kind: LimitRange,
      object: {
        ...core,
        kind: 'LimitRange',
        metadata: metadata('resource-limits'),
        spec: {
          limits: [
            {
              type: 'Container',
              default: { cpu: '2', memory: '2Gi' },
              defaultRequest: { cpu: '10m', memory: '256Mi' },
            },
          ],
        },
      },
    },
    ...ingressPolicies.map(([name, from]) => ({
      kind: NetworkPolicy,
      object: {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: metadata(name),
        spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from: [from] }] },
      },
    })),
  ];
}

const readVerbs = ['view', 'list', 'watch'];
const readRules = [
  { apiGroups: ['authorization.openshift.io', RBAC], resources: ['roles'], verbs: readVerbs },
  { apiGroups: ['networking.k8s.io'], resources: ['ingressclasses'], verbs: readVerbs },
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: readVerbs },
];

const fromNamespaces = (key: string, value: string) => ({ namespaceSelector: { matchLabels: { [key]: value } } });
const POLICY_GROUP = 'network.openshift.io/policy-group';

/** Ingress is allowed from pods of the same namespace and from parts of the platform. */
const ingressPolicies: readonly (readonly [string, unknown])[] = [
  ['allow-same-namespace', { podSelector: {} }],
  ['allow-from-openshift-ingress', fromNamespaces(POLICY_GROUP, 'ingress')],
  ['allow-from-openshift-monitoring', fromNamespaces(POLICY_GROUP, 'monitoring')],
  [
    'allow-from-codeready-workspaces-operator',
    fromNamespaces('kubernetes.io/metadata.name', 'codeready-workspaces-operator'),
  ],
  ['allow-from-olm-namespaces', fromNamespaces('openshift.io/scc', 'anyuid')],
  ['allow-from-console-namespaces', fromNamespaces(POLICY_GROUP, 'console')],
];

/** The tier of this name: one of the added tiers, or our own. */
export function tierNamed(name: string, added: readonly Tier[] = []): Tier | undefined {
  return [...added, sandbox].find((tier) => tier.name === name);
}

/** The error for an unknown tier, as the API server would write it. */
export function tierNotFound(name: string): string {
  return `nstemplatetiers.toolchain.dev.openshift.com "${name}" not found`;
}

/** A hash of what a tier makes for a space; it changes with the template. */
export function tierHash(namespaces: readonly TierNamespace[]): string {
  return createHash('md5').update(JSON.stringify(namespaces)).digest('hex');
}
