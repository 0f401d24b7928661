// Services get a cluster IP from 10.96.0.0/12 and, depending on their type, node ports.
import type { AnyObject, JsonObject } from '../../../kube/objects.ts';
import type { Store } from '../../store/store.ts';
import type { Cluster } from '../context.ts';
import { invalid } from '../../schema/field-error.ts';
import type { FieldError } from '../../schema/field-error.ts';
import { items, part } from './types.ts';
import type { KindRules } from './types.ts';

const firstAddress = (10 << 24) | (96 << 16);
const addresses = 1 << 20;
const firstNodePort = 30_000;
const nodePorts = 2_768;

function addressText(offset: number): string {
  const value = firstAddress + offset;
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

/** Values that existing services use. Not cached, because services are rarely created. */
function usedValues(cluster: Cluster, read: (spec: JsonObject) => readonly unknown[]): Set<unknown> {
  return new Set(cluster.store.list('services').flatMap(({ object }) => read(part(object, 'spec'))));
}

/** Where the search for a free value continues, per cluster, so that concurrent requests never get the same value. */
const cursors = new WeakMap<Store, { address: number; nodePort: number }>();

function cursorOf({ store }: Cluster): { address: number; nodePort: number } {
  let cursor = cursors.get(store);
  // Values are allocated in order, so that the value of a deleted service is not reused at once.
  if (cursor === undefined) cursors.set(store, (cursor = { address: store.version, nodePort: store.version }));
  return cursor;
}

function freeAddress(cluster: Cluster): string {
  const used = usedValues(cluster, (spec) => [spec['clusterIP']]);
  const cursor = cursorOf(cluster);
  for (;;) {
    const address = addressText(10 + (cursor.address++ % (addresses - 20)));
    if (!used.has(address)) return address;
  }
}

function freeNodePort(cluster: Cluster, used: ReadonlySet<unknown>): number | undefined {
  const cursor = cursorOf(cluster);
  for (let tries = 0; tries < nodePorts; tries++) {
    const port = firstNodePort + (cursor.nodePort++ % nodePorts);
    if (!used.has(port)) return port;
  }
  return undefined;
}

function withNodePorts(spec: JsonObject, cluster: Cluster): JsonObject {
  const used = usedValues(cluster, (other) => items(other, 'ports').map((port) => port['nodePort']));
  const ports = items(spec, 'ports').map((port) => {
    if (port['nodePort'] !== undefined) return port;
    const nodePort = freeNodePort(cluster, used);
    return nodePort === undefined ? port : { ...port, nodePort };
  });
  return { ...spec, ports };
}

function withoutNodePorts(spec: JsonObject): JsonObject {
  return { ...spec, ports: items(spec, 'ports').map(({ nodePort: _nodePort, ...port }) => port) };
}

/** Removes the cluster IP and all fields that depend on it. */
function withoutAddress(spec: JsonObject): JsonObject {
  const { clusterIP: _ip, clusterIPs: _ips, ipFamilies: _families, ipFamilyPolicy: _policy, ...rest } = spec;
  const { internalTrafficPolicy: _inside, externalTrafficPolicy: _outside, ...kept } = withoutNodePorts(rest);
  return kept;
}

function complete(object: AnyObject, cluster: Cluster): AnyObject {
  const spec = part(object, 'spec');
  if (spec['type'] === 'ExternalName') return object;
  const address = (spec['clusterIP'] ?? '') === '' ? freeAddress(cluster) : spec['clusterIP'];
  const addressed: JsonObject = { ...spec, clusterIP: address, clusterIPs: [address] };
  const outside = spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer';
  return { ...object, spec: outside ? withNodePorts(addressed, cluster) : addressed };
}

function outOfRange(address: string): string | undefined {
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const inside = value >= firstAddress && value < firstAddress + addresses;
  return inside ? undefined : 'the provided network does not match the current range';
}

function addressErrors(next: AnyObject, old: AnyObject | undefined, cluster: Cluster): FieldError[] {
  const address = part(next, 'spec')['clusterIP'];
  const before = old === undefined ? undefined : part(old, 'spec')['clusterIP'];
  if (typeof address !== 'string' || address === '' || address === 'None' || address === before) return [];
  if (before !== undefined && before !== '' && part(next, 'spec')['type'] !== 'ExternalName') {
    return [invalid('spec.clusterIPs[0]', [address], 'may not change once set')];
  }
  const used = cluster.store
    .list('services')
    .some(({ object }) => object.metadata.uid !== next.metadata.uid && part(object, 'spec')['clusterIP'] === address);
  const why = used ? 'provided IP is already allocated' : outOfRange(address);
  return why === undefined ? [] : [invalid('spec.clusterIPs', [address], `failed to allocate IP ${address}: ${why}`)];
}

function nodePortErrors(next: AnyObject, old: AnyObject | undefined, cluster: Cluster): FieldError[] {
  const portsOf = (object: AnyObject): unknown[] =>
    items(part(object, 'spec'), 'ports').flatMap((port) => port['nodePort'] ?? []);
  const own = new Set(old === undefined ? [] : portsOf(old));
  const others = cluster.store.list('services').filter(({ object }) => object.metadata.uid !== next.metadata.uid);
  const used = new Set(others.flatMap(({ object }) => portsOf(object)));
  return items(part(next, 'spec'), 'ports').flatMap(({ nodePort }, index) => {
    if (typeof nodePort !== 'number' || own.has(nodePort)) return [];
    const field = `spec.ports[${index}].nodePort`;
    if (used.has(nodePort)) return [invalid(field, nodePort, 'provided port is already allocated')];
    const last = firstNodePort + nodePorts - 1;
    if (nodePort >= firstNodePort && nodePort <= last) return [];
    const range = `The range of valid ports is ${firstNodePort}-${last}`;
    return [invalid(field, nodePort, `provided port is not in the valid range. ${range}`)];
  });
}

export const serviceRules: KindRules = {
  exclusive: true,
  createsOnUpdate: true,
  prepareCreate: complete,
  prepareUpdate: (next, old, cluster, target) => {
    if (target.subresource !== '') return next;
    const spec = part(next, 'spec');
    const before = part(old, 'spec')['type'];
    if (spec['type'] === before) return complete(next, cluster);
    if (spec['type'] === 'ExternalName') return { ...next, spec: withoutAddress(spec) };
    const { externalTrafficPolicy: _policy, ...inside } = withoutNodePorts(spec);
    return complete(spec['type'] === 'ClusterIP' ? { ...next, spec: inside } : next, cluster);
  },
  problems: (next, old, cluster) => [...addressErrors(next, old, cluster), ...nodePortErrors(next, old, cluster)],
  returnsDeleted: true,
};
