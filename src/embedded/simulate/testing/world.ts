// Worlds and objects for table tests of the planners.
import type { AnyObject, KubeObject } from '../../../kube/objects.ts';
import { keyOf } from '../../../kube/objects.ts';
import { builtinResources } from '../../kinds/index.ts';
import { collectionOf, Registry } from '../../registry.ts';
import { Store } from '../../store/store.ts';
import { selectors } from '../controllers.ts';
import type { Deployment, ReplicaSet } from '../../kinds/types.ts';
import { World } from '../world.ts';

export const now = Date.parse('2026-01-01T00:10:00Z');

/** A world that contains these objects; its clock stands still. */
export async function worldOf(...objects: readonly KubeObject[]): Promise<World> {
  const store = new Store();
  const registry = new Registry(builtinResources());
  const world = new World(store, registry, () => now, selectors);
  for (const object of objects) {
    const [version, group = ''] = object.apiVersion.split('/').reverse();
    const resource = registry.findKind(group, version!, object.kind)!;
    const next = object as unknown as AnyObject;
    world.add(await store.write({ collection: collectionOf(resource), key: keyOf(object.metadata), expect: 0, next }));
  }
  return world;
}

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'app:1' }] } };

export function deployment(spec: Partial<Deployment['spec']> = {}, status?: Deployment['status']): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default', uid: 'deployment', generation: 1 },
    spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template, ...spec },
    ...(status !== undefined && { status }),
  };
}

/** A replica set of the deployment; all its pods are available by default. */
export function replicaSet(
  name: string,
  replicas: number,
  more: { available?: number; image?: string; annotations?: Record<string, string> } = {},
): ReplicaSet {
  const { available = replicas, image = 'app:1', annotations = {} } = more;
  const labels = { app: 'web', 'pod-template-hash': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `web-${name}`,
      namespace: 'default',
      uid: name,
      generation: 1,
      labels,
      annotations,
      creationTimestamp: `2026-01-01T00:00:0${name.length}Z`,
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'web',
          uid: 'deployment',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
    status: { replicas, readyReplicas: available, availableReplicas: available, observedGeneration: 1 },
  };
}
