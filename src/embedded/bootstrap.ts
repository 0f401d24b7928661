// Creates the objects that every cluster starts with, unless they exist already.
import { defaultClusterRoleBindings, defaultClusterRoles } from './auth/default-roles.ts';
import { collectionOf } from './registry.ts';
import { create } from './rest/verbs/create.ts';
import { keyOf, systemUser } from './rest/context.ts';
import type { Cluster, Target, WriteOptions } from './rest/context.ts';
import { patch } from './rest/verbs/patch.ts';
import { loadSeed } from './seed.ts';

const writeOptions: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Ignore',
  warn: () => undefined,
};

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const rbac = 'rbac.authorization.k8s.io';

interface NamedObject {
  readonly metadata: { readonly name: string };
}

/** CustomResourceDefinitions that a cluster starts with. */
export interface StartingDefinitions {
  /** Created if missing. */
  readonly given: readonly NamedObject[];
  /** Applied at every start, with the manager below as field manager. */
  readonly kept: readonly NamedObject[];
  readonly manager: string;
}

export interface BootstrapOptions {
  /** CustomResourceDefinitions that exist before the cluster is ready. */
  readonly definitions?: () => StartingDefinitions;
  /** The seed of a cluster with the same definitions; a new cluster loads it instead of creating them. */
  readonly seed?: string | undefined;
}

/** Creates the missing objects, in as few commits as possible. */
export async function bootstrap(cluster: Cluster, port: number, options: BootstrapOptions): Promise<void> {
  const { definitions, seed } = options;
  const isNew = cluster.store.count('namespaces') === 0;
  const fromSeed = isNew && seed !== undefined;
  if (fromSeed) await loadSeed(cluster.store, seed);
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
    ...(definitions === undefined || fromSeed ? [] : writeDefinitions(cluster, definitions())),
  ]);
}

const definitionsGroup = 'apiextensions.k8s.io';
const definitionsPlural = 'customresourcedefinitions';

function writeDefinitions(cluster: Cluster, { given, kept, manager }: StartingDefinitions): Promise<unknown>[] {
  const by = { ...writeOptions, fieldManager: manager };
  return [
    ...given.map((definition) => ensure(cluster, definitionsGroup, definitionsPlural, '', definition, by)),
    ...kept.map((definition) => {
      const target = targetOf(cluster, definitionsGroup, definitionsPlural, '', definition);
      return patch(cluster, target, { type: 'apply', body: definition, force: true, manager }, by);
    }),
  ];
}

async function ensure(
  cluster: Cluster,
  group: string,
  plural: string,
  namespace: string,
  object: NamedObject,
  by = writeOptions,
): Promise<void> {
  const target = targetOf(cluster, group, plural, namespace, object);
  if (cluster.store.get(collectionOf(target.resource), keyOf(target)) !== undefined) return;
  await create(cluster, target, object, by);
}

function targetOf(cluster: Cluster, group: string, plural: string, namespace: string, object: NamedObject): Target {
  const resource = cluster.registry.find(group, 'v1', plural);
  if (resource === undefined) throw new Error(`the built-in resource ${plural} is missing`);
  return { resource, namespace, name: object.metadata.name, subresource: '' };
}
