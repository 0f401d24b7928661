// Endpoints and EndpointSlices: the addresses of the pods that a service selects, by readiness.
import { withAnnotations } from '../../../kube/annotations.ts';
import { timestamp } from '../../../kube/times.ts';
import type { JsonObject, KubeObject } from '../../../kube/objects.ts';
import type { Selector } from '../../../kube/selector.ts';
import { sameJson } from '../../patch/json.ts';
import type { StoreEvent } from '../../store/types.ts';
import { pods as podCollection, services } from '../../kinds/types.ts';
import type { Collection, Labels, Pod, Service, ServicePort } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { isReady, managedBy } from '../pods/pods.ts';
import { defined, self } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, createOf, deleteOf, nothing, updateOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

interface Endpoints extends KubeObject {
  readonly subsets?: readonly JsonObject[];
}

interface EndpointSlice extends KubeObject {
  readonly endpoints: readonly JsonObject[];
  readonly ports: readonly JsonObject[];
}

const endpointsCollection: Collection<Endpoints> = 'endpoints';
const slices: Collection<EndpointSlice> = 'endpointslices.discovery.k8s.io';
const sliceManager = 'endpointslice-controller.k8s.io';
const managerLabel = 'endpointslice.kubernetes.io/managed-by';
const nameLabel = 'kubernetes.io/service-name';
const headlessLabel = { 'service.kubernetes.io/headless': '' };
const changeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const largestSlice = 100;
const largestEndpoints = 1000;

/** The selector of a service; undefined when it has none, and something else manages its endpoints. */
export function serviceSelector(service: Service): Selector | undefined {
  const { selector, type } = service.spec;
  if (selector === undefined || type === 'ExternalName' || Object.keys(selector).length === 0) return undefined;
  return Object.entries(selector).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
}

/** A pod that a service selects, with the ports that it serves. */
interface Backend {
  readonly pod: Pod;
  readonly address: string;
  readonly ports: readonly JsonObject[];
}

function portNumber(pod: Pod, port: ServicePort): number | undefined {
  const { targetPort = port.port } = port;
  if (typeof targetPort === 'number') return targetPort === 0 ? port.port : targetPort;
  const protocol = port.protocol ?? 'TCP';
  const containers = [
    ...pod.spec.containers,
    ...(pod.spec.initContainers ?? []).filter((one) => one.restartPolicy === 'Always'),
  ];
  return containers
    .flatMap((container) => container.ports ?? [])
    .find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort;
}

/** The selected pods that have an IP and have not terminated, sorted by IP. */
function backends(world: World, service: Service, selector: Selector): readonly Backend[] {
  return world
    .selected(podCollection, service.metadata.namespace ?? '', selector)
    .flatMap((pod): Backend[] => {
      const { podIP, phase } = pod.status ?? {};
      if (podIP === undefined || phase === 'Succeeded' || phase === 'Failed') return [];
      const ports = (service.spec.ports ?? []).flatMap((port) => {
        const number = portNumber(pod, port);
        if (number === undefined) return [];
        const { name = '', protocol = 'TCP', appProtocol } = port;
        return [defined({ name, port: number, protocol, appProtocol })];
      });
      return [{ pod, address: podIP, ports }];
    })
    .toSorted((left, right) => (numeric(left.address) < numeric(right.address) ? -1 : 1));
}

function numeric(address: string): string {
  return address.replaceAll(/\d+/g, (part) => part.padStart(3, '0'));
}

function groupByPorts(list: readonly Backend[]): readonly (readonly Backend[])[] {
  return [...Map.groupBy(list, ({ ports }) => JSON.stringify(ports)).values()];
}

function targetRef(pod: Pod): JsonObject {
  const { name, namespace, uid } = pod.metadata;
  return { kind: 'Pod', name, namespace, uid };
}

export function planSlices(world: World, service: Service): Plan {
  const selector = serviceSelector(service);
  if (selector === undefined || service.metadata.deletionTimestamp !== undefined) return nothing;
  const existing = world
    .controlled(slices, service.metadata.uid)
    .filter((slice) => slice.metadata.labels?.[managerLabel] === sliceManager);
  const publish = service.spec.publishNotReadyAddresses === true;
  const desired = groupByPorts(backends(world, service, selector)).flatMap((group) => {
    const endpoints = group.map(({ pod, address }) => endpointOf(pod, address, publish));
    const chunks: { endpoints: readonly JsonObject[]; ports: readonly JsonObject[] }[] = [];
    for (let start = 0; start < endpoints.length; start += largestSlice) {
      chunks.push({ endpoints: endpoints.slice(start, start + largestSlice), ports: group[0]!.ports });
    }
    return chunks;
  });
  // A service without pods has one empty slice.
  if (desired.length === 0) desired.push({ endpoints: [], ports: [] });
  const sliceMetadata = { labels: sliceLabels(service), annotations: { [changeAnnotation]: timestamp(world.now()) } };
  const free = existing.filter(
    (slice) => !desired.some((one) => sameJson(one, { endpoints: slice.endpoints, ports: slice.ports })),
  );
  const missing = desired.filter(
    (one) => !existing.some((slice) => sameJson(one, { endpoints: slice.endpoints, ports: slice.ports })),
  );
  const writes = missing.map((content) => {
    const slice = free.shift();
    if (slice !== undefined) {
      return updateOf({ ...slice, metadata: { ...slice.metadata, ...sliceMetadata }, ...content });
    }
    const { name, namespace } = service.metadata;
    const metadata = {
      generateName: `${name}-`,
      namespace: namespace!,
      ...sliceMetadata,
      ownerReferences: [managedBy(service)],
    };
    return createOf({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType: 'IPv4',
      ...content,
    });
  });
  return { writes: [...writes, ...free.map((slice) => deleteOf(slice))] };
}

function sliceLabels(service: Service): Labels {
  return {
    ...service.metadata.labels,
    ...(service.spec.clusterIP === 'None' && headlessLabel),
    [managerLabel]: sliceManager,
    [nameLabel]: service.metadata.name,
  };
}

function endpointOf(pod: Pod, address: string, publish: boolean): JsonObject {
  const serving = isReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const { hostname, subdomain } = pod.spec as { hostname?: string; subdomain?: string };
  return {
    addresses: [address],
    conditions: { ready: publish || (serving && !terminating), serving, terminating },
    ...(hostname !== undefined && subdomain !== undefined && { hostname }),
    ...defined({ nodeName: pod.spec.nodeName }),
    targetRef: targetRef(pod),
  };
}

function planEndpoints(world: World, service: Service): Plan {
  const selector = serviceSelector(service);
  if (selector === undefined || service.metadata.deletionTimestamp !== undefined) return nothing;
  const publish = service.spec.publishNotReadyAddresses === true;
  const alive = backends(world, service, selector)
    .filter(({ pod }) => publish || pod.metadata.deletionTimestamp === undefined)
    .slice(0, largestEndpoints);
  const subsets = groupByPorts(alive).map((group) => {
    const address = ({ pod, address: ip }: Backend): JsonObject => ({
      ip,
      ...defined({ nodeName: pod.spec.nodeName }),
      targetRef: targetRef(pod),
    });
    const ready = group.filter(({ pod }) => publish || isReady(pod)).map(address);
    const notReady = group.filter(({ pod }) => !publish && !isReady(pod)).map(address);
    const ports = group[0]!.ports.map(({ name, ...port }) => (name === '' ? port : { name, ...port }));
    return {
      ...(ready.length > 0 && { addresses: ready }),
      ...(notReady.length > 0 && { notReadyAddresses: notReady }),
      ...(ports.length > 0 && { ports }),
    };
  });
  const { name, namespace } = service.metadata;
  const labels = {
    ...service.metadata.labels,
    'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    ...(service.spec.clusterIP === 'None' && headlessLabel),
  };
  const content = subsets.length > 0 ? { subsets } : {};
  const annotations = { [changeAnnotation]: timestamp(world.now()) };
  const found = world.get(endpointsCollection, `${namespace}/${name}`);
  if (found === undefined) {
    return {
      writes: [
        createOf({
          apiVersion: 'v1',
          kind: 'Endpoints',
          metadata: { name, namespace: namespace!, labels, annotations },
          ...content,
        }),
      ],
    };
  }
  if (sameJson(found.subsets ?? [], subsets) && sameJson(found.metadata.labels, labels)) return nothing;
  const { subsets: _subsets, ...rest } = found;
  return {
    writes: [
      updateOf({
        ...withAnnotations({ ...rest, metadata: { ...found.metadata, labels } }, annotations),
        ...content,
      }),
    ],
  };
}

/** The services that selected a pod before the change, or select it now. */
function* servicesOfPod({ stored, previous }: StoreEvent, world: World): Iterable<string> {
  for (const object of [stored.object, previous?.object]) {
    if (object !== undefined) yield* world.selecting(services, object.metadata.namespace ?? '', object.metadata.labels);
  }
}

function perService(
  name: string,
  watches: Controller['on'],
  plan: (world: World, service: Service) => Plan,
  planDeleted: (world: World, key: string) => Plan,
): Controller {
  return {
    name,
    writer: controllerManager(name),
    on: { services: self, pods: servicesOfPod, ...watches },
    plan: (world, key) => {
      const service = world.get(services, key);
      return service === undefined ? planDeleted(world, key) : plan(world, service);
    },
  };
}

/** Slices are deleted with their service through owner references; Endpoints are deleted here. */
export const endpointControllers: readonly Controller[] = [
  perService('endpoint-controller', { endpoints: self }, planEndpoints, (world, key) => {
    const found = world.get(endpointsCollection, key);
    const ours = found?.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller';
    return ours ? { writes: [deleteOf(found)] } : nothing;
  }),
  perService(
    'endpointslice-controller',
    {
      [slices]: ({ stored }) => {
        const { labels, namespace } = stored.object.metadata;
        return labels?.[nameLabel] === undefined ? [] : [`${namespace}/${labels[nameLabel]}`];
      },
    },
    planSlices,
    () => nothing,
  ),
];
