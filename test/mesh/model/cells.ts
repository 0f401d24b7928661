// The random worlds of the routing model on a mesh: their common pods, and writing and reading their objects.
import type { Client } from '../../../src/kube/client/client.ts';
import { keyOf } from '../../../src/kube/index.ts';
import { defineKind } from '../../../src/kube/objects.ts';
import type { AnyKind, AnyObject } from '../../../src/kube/objects.ts';
import { worldOf } from '../../../src/traffic/index.ts';
import type { World } from '../../../src/traffic/index.ts';
import { DestinationRule, Gateway, ServiceEntry, Sidecar, VirtualService } from '../../../src/traffic/istio/objects.ts';
import { Deployment, Service } from '../../../src/traffic/services.ts';
import { CALLERS, NAMESPACES } from '../../../src/traffic/testing/random-world.ts';
import { poll } from '../../scenarios/poll.ts';
import type { Mesh } from '../mesh.ts';
import { Namespace } from '../../support/core-kinds.ts';

const Pod = defineKind('v1', 'Pod', 'pods');
const EndpointSlice = defineKind('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
const WRITTEN: readonly AnyKind[] = [Service, VirtualService, DestinationRule, ServiceEntry, Gateway];
const READ: readonly AnyKind[] = [...WRITTEN, EndpointSlice, Sidecar, Pod];

/** Creates the namespaces and pods of all worlds. */
export async function makePods(client: Client): Promise<void> {
  for (const name of NAMESPACES)
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const all = [
    ['one', 'shop', { pool: 'a', version: 'v1' }],
    ['two', 'shop', { pool: 'a', version: 'v2' }],
    ['three', 'depot', { pool: 'b', version: 'v1' }],
  ] as const;
  for (const [name, namespace, labels] of all) {
    const template = { metadata: { labels }, spec: { containers: [{ name, image: `${name}:1` }] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    await client.create(Deployment, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec });
  }
  await poll(async () => {
    const found = await Promise.all(all.map(([name, namespace]) => client.get(Deployment, { name, namespace })));
    return found.every(({ status }) => status?.readyReplicas === 1);
  }, 30_000);
}

/** Another Gateway for the same pods, for some hosts. */
export function secondGateway({ ingress, ports }: Mesh, hosts: readonly string[]): AnyObject {
  const port = { number: ports[0]!, name: 'http', protocol: 'HTTP' };
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'Gateway',
    metadata: { name: 'second', namespace: 'shop' },
    spec: { selector: CALLERS.ingress.labels, servers: [{ port, bind: ingress.address, hosts }] },
  };
}

/** Writes the objects of a world, and deletes those of the previous one. */
export async function writeWorld(
  client: Client,
  objects: readonly AnyObject[],
  before: readonly AnyObject[],
): Promise<void> {
  const id = ({ kind, metadata }: AnyObject): string => `${kind} ${keyOf(metadata)}`;
  const kindOf = (object: AnyObject): AnyKind => WRITTEN.find(({ kind }) => kind === object.kind)!;
  const kept = new Set(objects.map(id));
  await Promise.all([
    ...objects.map((each) =>
      client.patch(kindOf(each), each.metadata, { type: 'apply', body: each, force: true }, { fieldManager: 'test' }),
    ),
    ...before.filter((each) => !kept.has(id(each))).map((each) => client.delete(kindOf(each), each.metadata)),
  ]);
}

/** Reads the world from the cluster, with creation timestamps. */
export async function readWorld(client: Client): Promise<World> {
  const lists = await Promise.all(READ.map((kind) => client.list(kind)));
  return worldOf(lists.flatMap(({ items }) => items as readonly AnyObject[]));
}
