// The objects that every cluster starts with. Written through the ordinary verbs when they are not there yet.
import { create } from './rest/create.ts';
import { systemUser } from './rest/context.ts';
import type { Cluster, WriteOptions } from './rest/context.ts';
import { Fault } from './rest/fault.ts';

const options: WriteOptions = {
  user: systemUser,
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Ignore',
  warn: () => undefined,
};

const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Creates what is missing. */
export async function bootstrap(cluster: Cluster, port: number): Promise<void> {
  await Promise.all(namespaces.map((name) => ensure(cluster, 'namespaces', '', { metadata: { name } })));
  await ensure(cluster, 'services', 'default', {
    metadata: { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.96.0.1',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
    },
  });
}

async function ensure(cluster: Cluster, plural: string, namespace: string, object: object): Promise<void> {
  const resource = cluster.registry.find('', 'v1', plural);
  if (resource === undefined) throw new Error(`the built-in resource ${plural} is missing`);
  try {
    await create(cluster, { resource, namespace, name: '', subresource: '' }, object, options);
  } catch (error) {
    if (!(error instanceof Fault && error.status.reason === 'AlreadyExists')) throw error;
  }
}
