// The scale subresource: reads and changes the number of replicas of any kind.
import { applyPatch, trackUpdate, withManagersFromScale, withManagersFromObject } from '../../patch/index.ts';
import type { ReplicasPaths } from '../../patch/index.ts';
import type { Resource } from '../../resource.ts';
import type { Schema } from '../../schema/types.ts';
import { formatSelector, selectorOf } from '../../../kube/selector.ts';
import type { LabelSelector } from '../../../kube/selector.ts';
import type { AnyObject, JsonObject } from '../../../kube/objects.ts';
import { apiVersionOf } from '../../registry.ts';
import { invalid as invalidValue } from '../../schema/field-error.ts';
import type { Cluster, Target, WriteOptions, Written } from '../context.ts';
import { badRequest, internal, invalid, noSuchPath } from '../fault.ts';
import type { Fault } from '../fault.ts';
import type { Patch } from '../verbs/patch.ts';
import { change } from '../verbs/update.ts';

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

/** Returns the requested Scale, given the current one; `managed`: its managedFields are already set. */
export type NextScale = (scale: AnyObject) => { readonly scale: unknown; readonly managed?: boolean };

/** Changes the replicas to those of the Scale that `next` returns. */
export async function changeScale(
  cluster: Cluster,
  target: Target,
  next: NextScale,
  options: WriteOptions,
): Promise<Written> {
  const { resource } = target;
  const path = resource.scale?.specReplicasPath;
  if (path === undefined) throw noSuchPath();
  const paths = replicasPaths(resource);
  const mutate = (old: AnyObject): { object: AnyObject; managed: boolean } => {
    const current = scaleOf(target, old);
    const shown = isUnset(resource, old) ? { ...current, spec: { replicas: unset } } : current;
    const scale = withManagersFromObject(shown, old, paths) as AnyObject;
    const { scale: requested, managed } = next(scale) as { scale: ScaleBody | null; managed?: boolean };
    refuseOther(target, requested);
    const replicas = requested?.spec?.replicas ?? 0;
    if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
      throw badRequest('Scale: spec.replicas must be a whole number');
    }
    if (replicas === unset) throw badRequest(`the spec replicas field ${JSON.stringify(path)} cannot be empty`);
    if (replicas < 0) {
      throw negativeReplicas(target, path, replicas);
    }
    const owned = managed === true ? (requested as JsonObject) : trackScale(scale, replicas, options);
    const resourceVersion = requested?.metadata?.resourceVersion ?? old.metadata.resourceVersion;
    const object = withManagersFromScale(
      written(old, path, replicas),
      owned,
      paths,
      apiVersionOf(resource),
    ) as AnyObject;
    const metadata = { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) };
    return { object: { ...object, metadata }, managed: true };
  };
  return change(cluster, target, mutate, options);
}

/** Stands for missing replicas while a Scale is changed. */
const unset = -(2 ** 31);

/** Whether a custom resource has no replicas field. */
function isUnset({ custom, scale }: Resource, object: AnyObject): boolean {
  return custom && scale !== undefined && read(object, scale.specReplicasPath) === undefined;
}

/** The Scale that a GET returns. */
export function shownScale(target: Target, object: AnyObject): AnyObject {
  if (!isUnset(target.resource, object)) return scaleOf(target, object);
  throw internal(`the spec replicas field ${JSON.stringify(target.resource.scale?.specReplicasPath)} does not exist`);
}

interface ScaleBody {
  readonly kind?: string;
  readonly spec?: { readonly replicas?: unknown };
  readonly metadata?: { readonly name?: string; readonly resourceVersion?: string };
}

const schema: Schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { replicas: { type: 'integer' } } } },
};
const scaleWriter = { schema, apiVersion: 'autoscaling/v1', subresource: 'scale' } as const;

function trackScale(scale: AnyObject, replicas: number, { fieldManager }: WriteOptions): JsonObject {
  const next = { ...scale, spec: replicas === 0 ? {} : { replicas } };
  return trackUpdate({ ...scaleWriter, old: scale, next, manager: fieldManager, now: Date.now() });
}

/** The Scale after a server-side apply, including managedFields. */
export function appliedScale(scale: AnyObject, patch: Extract<Patch, { type: 'apply' }>): ReturnType<NextScale> {
  const { apiVersion, kind, spec } = (patch.body ?? {}) as { apiVersion?: string; kind?: string; spec?: unknown };
  if (apiVersion !== scaleWriter.apiVersion || kind !== 'Scale') {
    throw badRequest(`invalid object type: ${apiVersion ?? ''}, Kind=${kind ?? ''}`);
  }
  const { resourceVersion } = (patch.body as ScaleBody).metadata ?? {};
  const applied = { apiVersion, kind, metadata: { name: scale.metadata.name }, ...(spec !== undefined && { spec }) };
  const { manager, force } = patch;
  const { status: _status, ...live } = scale;
  const { object } = applyPatch({ ...scaleWriter, live, applied, manager, force, now: Date.now() });
  const metadata = { ...(object['metadata'] as JsonObject), ...(resourceVersion !== undefined && { resourceVersion }) };
  return { scale: { ...object, metadata }, managed: true };
}

/** The replicas path of each API version. */
function replicasPaths(resource: Resource): ReplicasPaths {
  const own = resource.scale && steps(resource.scale.specReplicasPath);
  return resource.conversion?.replicas ?? new Map([[apiVersionOf(resource), own]]);
}

/** The body must be a Scale of this object. */
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
