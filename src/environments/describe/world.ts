// What belongs to an environment: its clones with their pods, its rules, the VirtualServices that lead to it, its
// Events. What may not be read is left out: the rest is still worth showing.
import { eventsAbout } from '../../api/description/events.ts';
import { visible } from '../../api/description/reader.ts';
import type { ObjectReader } from '../../api/description/reader.ts';
import type { DynamicEnv, ResourceStatus, Subset } from '../../api/dynamicenv.ts';
import type { Event } from '../../kube/events.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { formatSelector } from '../../kube/selector.ts';
import { namespaceOfHost } from '../../traffic/istio/hosts.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { cloneName, itemsOf } from '../names.ts';
import { Deployment, Pod, Service } from '../objects.ts';

/** The input of a description. Maps are by `namespace/name`. */
export interface EnvironmentWorld {
  readonly env: DynamicEnv;
  readonly clones: ReadonlyMap<string, Deployment>;
  /** By the key of the clone. */
  readonly pods: ReadonlyMap<string, readonly Pod[]>;
  readonly rules: ReadonlyMap<string, DestinationRule>;
  readonly virtualServices: ReadonlyMap<string, VirtualService>;
  readonly services: ReadonlyMap<string, Service>;
  /** VirtualServices that may delegate to delegates among the above. */
  readonly roots: readonly VirtualService[];
  /** Latest last. */
  readonly events: readonly Event[];
}

/** Reads the world of an environment. */
export function environmentWorld(read: ObjectReader, env: DynamicEnv): EnvironmentWorld {
  const { subsets, consumers } = itemsOf(env);
  const statuses = Object.values(env.status?.subsetsStatus ?? {});
  const cloneRefs = [...subsets, ...consumers].map((item) => cloneRef(env, item));
  const clones = getAll(read, Deployment, cloneRefs);
  const rules = getAll(read, DestinationRule, refsOf(statuses.map((status) => status.destinationRules)));
  const virtualServices = getAll(read, VirtualService, refsOf(statuses.map((status) => status.virtualServices)));
  const hasDelegates = [...virtualServices.values()].some(({ spec }) => (spec?.hosts ?? []).length === 0);
  return {
    env,
    clones,
    pods: new Map([...clones].map(([key, clone]) => [key, podsOf(read, clone)])),
    rules,
    virtualServices,
    roots: hasDelegates ? read.list(VirtualService, {}) : [],
    services: getAll(read, Service, [...rules.values()].flatMap(serviceRef)),
    events: eventsAbout(read, env),
  };
}

/** Name and namespace of the clone of a subset. */
export function cloneRef(env: DynamicEnv, subset: Subset): { readonly name: string; readonly namespace: string } {
  return { name: cloneName(env.metadata, subset), namespace: subset.namespace };
}

/** The Service that a rule is for, if it is in the cluster. */
function serviceRef(rule: DestinationRule): Ref[] {
  const host = rule.spec?.host ?? '';
  const full = /^([^.]+)\.([^.]+)\.svc\./.exec(host);
  if (full === null && host.includes('.')) return [];
  return [{ name: full?.[1] ?? host, namespace: namespaceOfHost(host, rule) }];
}

function refsOf(lists: readonly (readonly ResourceStatus[] | undefined)[]): Ref[] {
  return lists.flatMap((list) => list ?? []).filter(({ name, namespace }) => name !== '' && namespace !== '');
}

function getAll<T extends KubeObject>(read: ObjectReader, kind: Kind<T>, refs: readonly Ref[]): ReadonlyMap<string, T> {
  const found = refs.map((ref) => [keyOf(ref), visible(read.get(kind, ref))] as const);
  return new Map(found.flatMap(([key, object]) => (object === undefined ? [] : [[key, object] as const])));
}

function podsOf(read: ObjectReader, { metadata, spec }: Deployment): readonly Pod[] {
  const labels = Object.entries(spec.selector.matchLabels ?? {});
  const labelSelector = formatSelector(labels.map(([key, value]) => ({ key, operator: 'In', values: [value] })));
  return read.list(Pod, { namespace: metadata.namespace!, labelSelector });
}
