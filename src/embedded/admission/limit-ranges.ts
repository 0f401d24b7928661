// Limit ranges: the default requests and limits of containers, and their minimum and maximum.
import { withAnnotations } from '../../kube/annotations.ts';
import type { AnyObject, KubeObject } from '../../kube/objects.ts';
import type { Cluster } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import { compareQuantities } from '../../kube/quantity.ts';
import type { Collection, Container, Labels, Pod } from '../kinds/types.ts';
import type { NewPodRequest } from './new-pods.ts';
import { quantityOf } from './quota-usage.ts';

interface LimitItem {
  readonly type: string;
  readonly default?: Labels;
  readonly defaultRequest?: Labels;
  readonly min?: Labels;
  readonly max?: Labels;
}

interface LimitRange extends KubeObject {
  readonly spec?: { readonly limits?: readonly LimitItem[] };
}

const ranges: Collection<LimitRange> = 'limitranges';
const annotation = 'kubernetes.io/limit-ranger';

/** The limits for containers in the pod's namespace. */
function containerLimits(cluster: Cluster, { target }: NewPodRequest): readonly LimitItem[] {
  return cluster.store
    .list(ranges, { namespace: target.namespace })
    .flatMap(({ object }) => (object as unknown as LimitRange).spec?.limits ?? [])
    .filter((item) => item.type === 'Container');
}

/** Sets the default requests and limits of a new pod, and an annotation that lists them. */
export function withLimitDefaults(cluster: Cluster, request: NewPodRequest): AnyObject {
  const { object } = request;
  const items = containerLimits(cluster, request);
  if (items.length === 0) return object;
  const pod = object as unknown as Pod;
  const notes: string[] = [];
  const complete =
    (kind: string) =>
    (container: Container): Container => {
      const limits = missing(items, container.resources?.limits, (item) => item.default);
      const requests = missing(items, container.resources?.requests, (item) => defaultRequests(item, container));
      const record = (side: string, added: Labels): void => {
        const names = Object.keys(added).toSorted();
        if (names.length > 0) notes.push(`${names.join(', ')} ${side} for ${kind} ${container.name}`);
      };
      record('request', requests);
      record('limit', limits);
      if (Object.keys(limits).length + Object.keys(requests).length === 0) return container;
      const resources = {
        ...container.resources,
        limits: { ...container.resources?.limits, ...limits },
        requests: { ...container.resources?.requests, ...requests },
      };
      return { ...container, resources };
    };
  const containers = pod.spec.containers.map(complete('container'));
  const initContainers = pod.spec.initContainers?.map(complete('init container'));
  if (notes.length === 0) return object;
  const annotated = withAnnotations(object, { [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` });
  const spec = { ...pod.spec, containers, ...(initContainers !== undefined && { initContainers }) };
  return { ...annotated, spec };
}

/** The default requests, except where the container has a limit: then its request defaults to that limit. */
function defaultRequests(item: LimitItem, container: Container): Labels | undefined {
  const defaults = { ...item.default, ...item.defaultRequest };
  const own = container.resources?.limits ?? {};
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => own[name] === undefined));
}

function missing(
  items: readonly LimitItem[],
  present: Labels | undefined,
  read: (item: LimitItem) => Labels | undefined,
): Labels {
  const added: Record<string, string> = {};
  for (const item of items) {
    for (const [name, value] of Object.entries(read(item) ?? {})) {
      if (present?.[name] === undefined) added[name] ??= value;
    }
  }
  return added;
}

/** Throws a Fault when a container of a new pod violates a limit range. */
export function checkLimits(cluster: Cluster, request: NewPodRequest): void {
  const items = containerLimits(cluster, request);
  const pod = request.object as unknown as Pod;
  const problems = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].flatMap((container) =>
    items.flatMap((item) => violations(item, container)),
  );
  if (problems.length === 0) return;
  const text = problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`;
  throw forbidden(request.target.resource, request.target.name, text);
}

function violations(item: LimitItem, { resources = {} }: Container): string[] {
  const problems: string[] = [];
  for (const [name, bound] of Object.entries(item.min ?? {})) {
    const found = resources.requests?.[name] ?? resources.limits?.[name];
    const text = `minimum ${name} usage per Container is ${bound}`;
    if (found === undefined) problems.push(`${text}.  No request is specified`);
    else if (compareQuantities(quantityOf(found), quantityOf(bound)) < 0)
      problems.push(`${text}, but request is ${found}`);
  }
  for (const [name, bound] of Object.entries(item.max ?? {})) {
    const limit = resources.limits?.[name];
    const requested = resources.requests?.[name];
    const text = `maximum ${name} usage per Container is ${bound}`;
    if (limit === undefined) problems.push(`${text}.  No limit is specified`);
    else if (compareQuantities(quantityOf(limit), quantityOf(bound)) > 0)
      problems.push(`${text}, but limit is ${limit}`);
    else if (requested !== undefined && compareQuantities(quantityOf(requested), quantityOf(bound)) > 0) {
      problems.push(`${text}, but request is ${requested}`);
    }
  }
  return problems;
}
