// The objects that every cluster starts with. Written through the ordinary verbs when they are not there yet.
import { defaultClusterRoleBindings, defaultClusterRoles } from './auth/default-roles.ts';
import { collectionOf } from './registry.ts';
import { create } from './rest/create.ts';
import { systemUser } from './rest/context.ts';
import type { Cluster, WriteOptions } from './rest/context.ts';

const options: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Ignore',
  warn: () => undefined,
};

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const rbac = 'rbac.authorization.k8s.io';

interface Given {
  readonly metadata: { readonly name: string };
}

/** Creates what is missing. */
export async function bootstrap(cluster: Cluster, port: number): Promise<void> {
  await Promise.all(namespaces.map((name) => ensure(cluster, '', 'namespaces', '', { metadata: { name } })));
  const service = {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
    },
  };
  await Promise.all([
    ...defaultClusterRoles.map((role) => ensure(cluster, rbac, 'clusterroles', '', role)),
    ...defaultClusterRoleBindings.map((binding) => ensure(cluster, rbac, 'clusterrolebindings', '', binding)),
    ensure(cluster, '', 'services', 'default', service),
  ]);
}

async function ensure(
  cluster: Cluster,
  group: string,
  plural: string,
  namespace: string,
  object: Given,
): Promise<void> {
  const resource = cluster.registry.find(group, 'v1', plural);
  if (resource === undefined) throw new Error(`the built-in resource ${plural} is missing`);
  const { name } = object.metadata;
  if (cluster.store.get(collectionOf(resource), namespace === '' ? name : `${namespace}/${name}`) !== undefined) return;
  await create(cluster, { resource, namespace, name, subresource: '' }, object, options);
}
