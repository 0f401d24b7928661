// The scale subresource: how many replicas, in one shape for every kind that has them.
import { formatSelector, selectorOf } from '../../kube/selector.ts';
import type { LabelSelector } from '../../kube/selector.ts';
import type { AnyObject, JsonObject } from '../../kube/objects.ts';
import { apiVersionOf } from '../registry.ts';
import { invalid as invalidValue } from '../schema/field-error.ts';
import type { Cluster, Target, WriteOptions, Written } from './context.ts';
import { badRequest, invalid, noSuchPath } from './fault.ts';
import type { Fault } from './fault.ts';
import { change } from './update.ts';

/** The Scale of an object. */
export function scaleOf(target: Target, object: AnyObject): AnyObject {
  const { scale } = target.resource;
  if (scale === undefined) throw noSuchPath();
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = read(object, scale.specReplicasPath) ?? 0;
  const selector = scale.labelSelectorPath === undefined ? undefined : read(object, scale.labelSelectorPath);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: Object.fromEntries(
      Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as unknown as AnyObject['metadata'],
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: read(object, scale.statusReplicasPath) ?? 0,
      ...(selector !== undefined && { selector: selectorText(selector) }),
    },
  };
}

/** Changes the number of replicas to what `next` makes of the current Scale. */
export async function changeScale(
  cluster: Cluster,
  target: Target,
  next: (scale: AnyObject) => unknown,
  options: WriteOptions,
): Promise<Written> {
  const path = target.resource.scale?.specReplicasPath;
  if (path === undefined) throw noSuchPath();
  const mutate = (old: AnyObject): { object: AnyObject } => {
    const wanted = next(scaleOf(target, old)) as {
      kind?: string;
      spec?: { replicas?: unknown };
      metadata?: { name?: string; resourceVersion?: string };
    };
    refuseOther(target, wanted);
    const replicas = wanted?.spec?.replicas ?? 0;
    if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
      throw badRequest('Scale: spec.replicas must be a whole number');
    }
    if (replicas < 0) {
      throw negativeReplicas(target, path, replicas);
    }
    const resourceVersion = wanted.metadata?.resourceVersion ?? old.metadata.resourceVersion;
    const metadata = { ...old.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
    return { object: { ...(written(old, path, replicas) as AnyObject), metadata } };
  };
  return change(cluster, target, mutate, options);
}

/** What applying a Scale means for the object that is scaled: it says how many replicas, and nothing else. */
export function scaledObject({ resource, name }: Target, applied: unknown): JsonObject {
  const { apiVersion, kind, metadata, spec } = (applied ?? {}) as {
    apiVersion?: string;
    kind?: string;
    metadata?: { resourceVersion?: unknown };
    spec?: { replicas?: unknown };
  };
  if (apiVersion !== 'autoscaling/v1' || kind !== 'Scale') {
    throw badRequest(`invalid object type: ${apiVersion ?? ''}, Kind=${kind ?? ''}`);
  }
  const version = metadata?.resourceVersion;
  const object: JsonObject = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, ...(version !== undefined && { resourceVersion: version }) },
  };
  if (spec?.replicas === undefined) return object;
  return written(object, resource.scale?.specReplicasPath ?? '', spec.replicas);
}

/** The caller must send a Scale, and that of this object. */
function refuseOther({ name }: Target, given: { kind?: string; metadata?: { name?: string } } | null): void {
  const { kind = 'Scale', metadata } = given ?? {};
  if (kind !== 'Scale') throw badRequest(`${kind} cannot be handled as a Scale`);
  if (metadata?.name !== undefined && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

function negativeReplicas({ resource, name }: Target, path: string, replicas: number): Fault {
  if (resource.custom) {
    return invalid(resource, name, [invalidValue(path, replicas, 'should be a non-negative integer')]);
  }
  const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
  return invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
}

function steps(path: string): readonly string[] {
  return path.split('.').filter((step) => step !== '');
}

function read(object: unknown, path: string): unknown {
  let value = object;
  for (const step of steps(path)) value = (value as JsonObject | undefined)?.[step];
  return value;
}

function written(object: JsonObject, path: string, value: unknown): JsonObject {
  const [step = '', ...rest] = steps(path);
  if (rest.length === 0) return { ...object, [step]: value };
  return { ...object, [step]: written((object[step] ?? {}) as JsonObject, rest.join('.'), value) };
}

function selectorText(selector: unknown): string {
  return typeof selector === 'string' ? selector : formatSelector(selectorOf(selector as LabelSelector));
}
