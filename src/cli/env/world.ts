// Reads what belongs to an environment from the cluster: its clones with their pods, its rules, the VirtualServices that
// lead to it, what happened to it. What may not be read is left out: the rest is still worth showing.
import type { DynamicEnv, ResourceStatus, Subset } from '../../api/dynamicenv.ts';
import { namespaceOfHost } from '../../traffic/istio/hosts.ts';
import { cloneName, itemsOf } from '../../environments/names.ts';
import { Deployment, Pod, Service } from '../../environments/objects.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Event } from '../../kube/events.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { formatSelector } from '../../kube/selector.ts';
import { listAll } from '../objects/follow.ts';
import { readable } from '../objects/readable.ts';
import { eventsAbout } from '../objects/recent-events.ts';

/** Everything that a description is made of. Maps are by `namespace/name`. */
export interface EnvironmentWorld {
  readonly env: DynamicEnv;
  readonly clones: ReadonlyMap<string, Deployment>;
  /** By the key of the clone. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly rules: ReadonlyMap<string, DestinationRule>;
  readonly virtualServices: ReadonlyMap<string, VirtualService>;
  readonly services: ReadonlyMap<string, Service>;
  /** The latest last. */
  readonly events: readonly Event[];
}

/** Reads the world of an environment. */
export async function readWorld(client: Client, env: DynamicEnv): Promise<EnvironmentWorld> {
  const { subsets, consumers } = itemsOf(env);
  const statuses = Object.values(env.status?.subsetsStatus ?? {});
  const [clones, rules, virtualServices, events] = await Promise.all([
    getAll(
      client,
      Deployment,
      [...subsets, ...consumers].map((item) => cloneRef(env, item)),
    ),
    getAll(client, DestinationRule, refsOf(statuses.map((status) => status.destinationRules))),
    getAll(client, VirtualService, refsOf(statuses.map((status) => status.virtualServices))),
    eventsAbout(client, env),
  ]);
  const [pods, services] = await Promise.all([
    podsOf(client, [...clones.values()]),
    getAll(client, Service, [...rules.values()].flatMap(serviceRef)),
  ]);
  return { env, clones, pods, rules, virtualServices, services, events };
}

/** Where the clone of a subset is. */
export function cloneRef(env: DynamicEnv, subset: Subset): { readonly name: string; readonly namespace: string } {
  return { name: cloneName(env.metadata, subset), namespace: subset.namespace };
}

/** The service that a rule is about, if it is one of the cluster. */
export function serviceRef(rule: DestinationRule): Ref[] {
  const host = rule.spec?.host ?? '';
  const full = /^([^.]+)\.([^.]+)\.svc\./.exec(host);
  if (full === null && host.includes('.')) return [];
  return [{ name: full?.[1] ?? host, namespace: namespaceOfHost(host, rule) }];
}

function refsOf(lists: readonly (readonly ResourceStatus[] | undefined)[]): Ref[] {
  return lists.flatMap((list) => list ?? []).filter(({ name, namespace }) => name !== '' && namespace !== '');
}

async function getAll<T extends KubeObject>(
  client: Client,
  kind: Kind<T>,
  refs: readonly Ref[],
): Promise<ReadonlyMap<string, T>> {
  const unique = new Map(refs.map((ref) => [keyOf(ref), ref]));
  const found = await Promise.all(
    [...unique].map(async ([key, ref]) => [key, await readable(client.get(kind, ref))] as const),
  );
  return new Map(found.flatMap(([key, object]) => (object === undefined ? [] : [[key, object] as const])));
}

async function podsOf(client: Client, clones: readonly Deployment[]): Promise<ReadonlyMap<string, readonly Pod[]>> {
  const lists = clones.map(async ({ metadata, spec }) => {
    const labels = Object.entries(spec.selector.matchLabels ?? {});
    const labelSelector = formatSelector(labels.map(([key, value]) => ({ key, operator: 'In', values: [value] })));
    const selection = { namespace: metadata.namespace!, labelSelector };
    return [keyOf(metadata), (await readable(listAll(client, Pod, selection))) ?? []] as const;
  });
  return new Map(await Promise.all(lists));
}
