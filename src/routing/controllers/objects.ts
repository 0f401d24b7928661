// Writes a mesh as objects of the App Mesh controller: finds the existing objects and their owners, and plans the
// steps.
import type { View } from '../../controller/index.ts';
import { defineTable, keyOf, own, remove } from '../../kube/index.ts';
import type { Kind, KubeObject, ObjectMeta, Step } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import { memo } from '../memo.ts';
import { APP_MESH, AppMesh, VirtualNode, VirtualRouter, VirtualService } from '../objects.ts';
import type { Backend } from '../objects.ts';
import { decide, keptBackends, SETTLE_MS, desiredText } from '../reconcile/decide.ts';
import type { Guards } from '../reconcile/decide.ts';
import { titleOf } from '../reconcile/resources.ts';
import { partsIn } from '../models/parts.ts';
import type { PartModels } from '../models/parts.ts';
import type { PlanModels } from '../models/plans.ts';
import { NOTHING } from './backend.ts';
import type { MeshBackend } from './backend.ts';
import type { Found, Resource, ResourceType } from '../reconcile/resources.ts';

const MANAGED_BY = 'app.kubernetes.io/managed-by';
/** The Mesh that an object was made for. An annotation, because a label is too short for two names. */
const OF_MESH = 'offshoot.dev/mesh';
const BY_MESH = 'mesh';

const KINDS = ([AppMesh, VirtualNode, VirtualRouter, VirtualService] as readonly Kind<KubeObject>[]).map((kind) =>
  defineTable(kind, { indexes: { [BY_MESH]: meshOf } }),
);
const TYPES: Readonly<Record<string, ResourceType>> = {
  Mesh: 'mesh',
  VirtualNode: 'virtualNode',
  VirtualRouter: 'virtualRouter',
  VirtualService: 'virtualService',
};

function meshOf({ metadata }: KubeObject): readonly string[] {
  const mesh = metadata.annotations?.[OF_MESH];
  return mesh === undefined ? [] : [mesh];
}

/** The steps for the objects of a mesh, and problems with them. */
export interface Reconciliation {
  readonly steps: readonly Step[];
  readonly problems: readonly Problem[];
  /** When to reconcile again although nothing changes. */
  readonly requeueAfterMs?: number;
  /** No object of the mesh is left. */
  readonly isGone: boolean;
}

/** Why objects cannot be created in this cluster. */
function missingKinds(view: View): Problem | undefined {
  return KINDS.every((kind) => view.served(kind)) ? undefined : problems.kindsMissing(APP_MESH);
}

/** Plans the steps to the desired objects of a mesh. */
function reconcileObjects(view: View, mesh: string, desired: readonly KubeObject[], guards: Guards): Reconciliation {
  const missing = missingKinds(view);
  if (missing !== undefined) return { steps: [], problems: guards.isDeleting ? [] : [missing], isGone: true };
  const resources = desired.map((object) => resourceOf(withOwnership(object, mesh)));
  const found = foundIn(view, mesh, resources);
  const settledInMs = SETTLE_MS - view.heldFor(`desired ${desiredText(resources)}`);
  const decision = decide(resources, found, { ...guards, isUnsettled: settledInMs > 0 });
  const liveNodes = new Map(found.filter(({ type }) => type === 'virtualNode').map((each) => [each.id, each]));
  const refused: Problem[] = [];
  const steps: Step[] = [];
  const plan = (step: Step, resource: ObjectResource): void => {
    const why = view.refusal(step.kind, resource.object.metadata);
    if (why === undefined) steps.push(step);
    else refused.push(problems.writeRefused(titleOf(resource), why));
  };
  for (const each of decision.writes) {
    const live = liveNodes.get(each.id);
    const backends = live && each.type === 'virtualNode' ? keptBackends(live, decision.kept, each) : [];
    plan(own(kindOf(each.object), withBackends(each.object, live?.object, backends)), each);
  }
  // A group of objects is removed only after those that refer to it are gone, and only if nothing was refused.
  const [next = []] = refused.length === 0 ? decision.removals : [];
  for (const each of next) plan(remove(kindOf(each.object), each.object), each);
  const blocked = decision.blocked === undefined ? [] : [decision.blocked];
  return {
    steps,
    problems: [...refused, ...decision.foreign, ...blocked],
    ...(decision.isWaiting && settledInMs > 0 && { requeueAfterMs: settledInMs }),
    isGone: !found.some(({ isOurs }) => isOurs),
  };
}

/** The back end that writes meshes as objects. */
export function objectBackend(plans: PlanModels, objects: PartModels<KubeObject>): MeshBackend {
  return {
    chores: [],
    reconcile(view, mesh, guards) {
      if (guards.isDeleting) return { ...reconcileObjects(view, mesh, [], guards), warnings: [] };
      const desired = partsIn(view, plans, objects, mesh);
      if (desired === undefined) return { ...NOTHING, isPending: true };
      if ('problem' in desired) return { ...NOTHING, rejected: desired.problem };
      return { ...reconcileObjects(view, mesh, desired.parts, guards), warnings: desired.warnings };
    },
    isProgrammed(view, mesh, host) {
      const routers = view.read.get(view.model(objects.routers), { mesh, host }) ?? [];
      const others = view.read.get(view.model(objects.others), mesh);
      // A router gets no requests until its virtual service refers to it.
      const service = others && servicesByHost(others).get(host);
      return [...routers, ...(service ? [service] : [])].every((each) => isInPlace(view, each));
    },
  };
}

const servicesByHost = memo(
  ({ services }: { readonly services: readonly KubeObject[] }): ReadonlyMap<string | undefined, KubeObject> =>
    new Map(services.map((each) => [resourceOf(each).host, each])),
);

/** Whether an object exists with all desired fields; additional fields do not matter. */
function isInPlace(view: View, object: KubeObject): boolean {
  const live = view.get(kindOf(object), object.metadata);
  return live !== undefined && covers(specOf(live), specOf(object));
}

const specOf = (object: KubeObject): unknown => (object as KubeObject & { readonly spec?: unknown }).spec;

function covers(live: unknown, desired: unknown): boolean {
  if (typeof desired !== 'object' || desired === null) return live === desired;
  if (Array.isArray(desired)) {
    return Array.isArray(live) && live.length === desired.length && desired.every((each, i) => covers(live[i], each));
  }
  if (typeof live !== 'object' || live === null) return jsonEqual(live, desired);
  return Object.entries(desired).every(([field, value]) => covers((live as Record<string, unknown>)[field], value));
}

interface ObjectResource extends Resource {
  readonly object: KubeObject;
}

/** The objects that were made for the mesh, and those of others under names that it needs. */
function foundIn(view: View, mesh: string, desired: readonly ObjectResource[]): Found<ObjectResource>[] {
  const ours = KINDS.flatMap((kind) => view.index(kind, BY_MESH, mesh)).map((object) => ({
    ...resourceOf(object),
    isOurs: true,
    isStale: isOfAnotherMesh(object, desired),
  }));
  const known = new Set(ours.map(({ type, id }) => `${type} ${id}`));
  const foreign = desired
    .filter(({ type, id }) => !known.has(`${type} ${id}`))
    .flatMap(({ object }) => view.get(kindOf(object), object.metadata) ?? [])
    .map((object) => ({ ...resourceOf(object), isOurs: false, ...ownerOf(object) }));
  return [...ours, ...foreign];
}

/** Whether an object belongs to another mesh than desired: the App Mesh controller never moves it. */
function isOfAnotherMesh(object: KubeObject, desired: readonly ObjectResource[]): boolean {
  const { meshRef } = (object as KubeObject & AnySpec).spec ?? {};
  const mesh = desired.find(({ type }) => type === 'mesh');
  return meshRef !== undefined && mesh !== undefined && meshRef.name !== mesh.object.metadata.name;
}

/** The Mesh in the annotation of an object. */
function ownerOf(object: KubeObject): { readonly owner?: string } {
  const [mesh] = meshOf(object);
  return mesh === undefined ? {} : { owner: `Mesh ${mesh}` };
}

function kindOf({ kind }: KubeObject): Kind<KubeObject> {
  return KINDS.find((each) => each.kind === kind)!;
}

interface AnySpec {
  readonly spec?: VirtualNode['spec'] & VirtualService['spec'] & { readonly meshRef?: { readonly name: string } };
}

function resourceOf(object: KubeObject): ObjectResource {
  const { kind, metadata } = object;
  const { spec = {} } = object as KubeObject & AnySpec;
  const type = TYPES[kind]!;
  const name = spec.awsName ?? metadata.name;
  const host = type === 'virtualService' ? name : spec.serviceDiscovery?.dns?.hostname;
  const router = spec.provider?.virtualRouter?.virtualRouterRef;
  return {
    type,
    id: keyOf(metadata),
    name,
    object,
    ...(host !== undefined && { host }),
    ...(router && { router: referenceFrom(metadata, router) }),
    ...(type === 'virtualNode' && { backends: (spec.backends ?? []).flatMap((each) => backendOf(metadata, each)) }),
  };
}

/** The key of the object that a reference means. */
function referenceFrom({ namespace }: ObjectMeta, ref: { readonly name: string; readonly namespace?: string }): string {
  const place = ref.namespace ?? namespace;
  return keyOf({ name: ref.name, ...(place !== undefined && { namespace: place }) });
}

function backendOf(node: ObjectMeta, { virtualService }: Backend): readonly string[] {
  const ref = virtualService?.virtualServiceRef;
  return ref === undefined ? [] : [referenceFrom(node, ref)];
}

function withOwnership(object: KubeObject, mesh: string): KubeObject {
  const metadata = { ...object.metadata, labels: { [MANAGED_BY]: 'offshoot' }, annotations: { [OF_MESH]: mesh } };
  return { ...object, metadata };
}

/** Adds the backends of a virtual node whose services are kept. */
function withBackends(node: KubeObject, live: KubeObject | undefined, kept: readonly string[]): KubeObject {
  if (live === undefined || kept.length === 0) return node;
  const backendsIn = (object: KubeObject): readonly Backend[] => (object as VirtualNode).spec?.backends ?? [];
  const stay = backendsIn(live).filter((each) => backendOf(live.metadata, each).some((id) => kept.includes(id)));
  return { ...node, spec: { ...(node as VirtualNode).spec, backends: [...backendsIn(node), ...stay] } } as KubeObject;
}
