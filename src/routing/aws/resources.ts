// Converts request bodies and responses of AWS to resources that can be compared, and reads and writes ownership tags.
import { createHash } from 'node:crypto';
import { jsonEqual } from '../../watchable/index.ts';
import type { Body } from '../backends/appmesh-api.ts';
import type { Resource } from '../reconcile/resources.ts';
import type { PartRef, Tags } from './api.ts';

const MANAGED_BY = 'supergloo.solo.io/managed-by';
const OWNER = 'supergloo.solo.io/owner';
const HASH = 'supergloo.solo.io/hash';
/** The maximum length of a tag value. */
const LONGEST_TAG = 256;

/** A resource of a mesh that has a spec. */
export interface Part extends Resource {
  readonly ref: PartRef;
  readonly spec: object;
}

/** The owner of resources: a Mesh in a cluster, as the value of a tag. */
export function ownerOf(cluster: string, mesh: string): string {
  const owner = `${cluster}/${mesh}`;
  if (owner.length <= LONGEST_TAG) return owner;
  const digest = createHash('sha256').update(owner).digest('hex').slice(0, 16);
  return `${owner.slice(0, LONGEST_TAG - digest.length - 1)}-${digest}`;
}

/** The tags of a resource that we own. */
export function tagsOf(owner: string, spec: object = {}): Tags {
  return { [MANAGED_BY]: 'supergloo', [OWNER]: owner, [HASH]: hashOf(spec) };
}

export function isOwnedBy(owner: string, tags: Tags): boolean {
  return tags[MANAGED_BY] === 'supergloo' && tags[OWNER] === owner;
}

/** The Mesh in the tags of a resource, in words. */
export function ownerIn(tags: Tags): { readonly owner?: string } {
  const owner = tags[MANAGED_BY] === 'supergloo' ? tags[OWNER] : undefined;
  if (owner === undefined) return {};
  const [cluster, ...mesh] = owner.split('/');
  return { owner: `Mesh ${mesh.join('/')} of cluster ${cluster}` };
}

function hashOf(spec: object): string {
  return createHash('sha256')
    .update(JSON.stringify(normalized(spec)))
    .digest('hex')
    .slice(0, 32);
}

/** Converts the body of a Create call to a part. */
export function partOfBody(body: Body): Part {
  if ('virtualNodeName' in body) return partOf({ type: 'virtualNode', name: body.virtualNodeName }, body.spec);
  if ('virtualServiceName' in body) return partOf({ type: 'virtualService', name: body.virtualServiceName }, body.spec);
  const { virtualRouterName: router, routeName } = body;
  if (routeName === undefined) return partOf({ type: 'virtualRouter', name: router }, body.spec);
  return partOf({ type: 'route', name: routeName, router }, body.spec);
}

interface AnySpec {
  readonly serviceDiscovery?: { readonly dns?: { readonly hostname?: string } };
  readonly backends?: readonly Backend[];
  readonly provider?: { readonly virtualRouter?: { readonly virtualRouterName?: string } };
}
interface Backend {
  readonly virtualService?: { readonly virtualServiceName?: string };
}

export function partOf(ref: PartRef, spec: object): Part {
  const { type, name } = ref;
  const { serviceDiscovery, backends = [], provider } = spec as AnySpec;
  const host = type === 'virtualService' ? name : serviceDiscovery?.dns?.hostname;
  const router = ref.router ?? provider?.virtualRouter?.virtualRouterName;
  return {
    type,
    ref,
    spec,
    name,
    // The same name in another router is another route.
    id: ref.router === undefined ? name : `${ref.router}/${name}`,
    ...(host !== undefined && { host }),
    ...(router !== undefined && { router }),
    ...(type === 'virtualNode' && { backends: backends.flatMap(serviceOf) }),
  };
}

function serviceOf({ virtualService }: Backend): readonly string[] {
  const name = virtualService?.virtualServiceName;
  return name === undefined ? [] : [name];
}

/** Adds these services to the backends of a virtual node. */
export function withBackends(part: Part, services: readonly string[]): Part {
  if (services.length === 0) return part;
  const { backends = [] } = part.spec as AnySpec;
  const more = services.map((virtualServiceName) => ({ virtualService: { virtualServiceName } }));
  return partOf(part.ref, { ...part.spec, backends: [...backends, ...more] });
}

/** Whether two specs are equivalent. */
export function isSameSpec(a: object, b: object): boolean {
  return jsonEqual(normalized(a), normalized(b));
}

/** Whether this is the spec that we sent last and it is still in place; fields that AWS added do not matter. */
export function isAsSent(spec: object, live: object, tags: Tags): boolean {
  return tags[HASH] === hashOf(spec) && covers(normalized(live), normalized(spec));
}

function covers(live: unknown, desired: unknown): boolean {
  if (typeof desired !== 'object' || desired === null || typeof live !== 'object' || live === null)
    return live === desired;
  if (Array.isArray(desired) && desired.length !== Object.keys(live).length) return false;
  return Object.entries(desired).every(([field, value]) => covers((live as Record<string, unknown>)[field], value));
}

const UNORDERED: ReadonlySet<string> = new Set(['backends', 'listeners']);

/** Normalizes a value: drops empty fields, sorts keys, and sorts lists whose order does not matter. */
function normalized(value: unknown, field = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((each) => normalized(each));
    return UNORDERED.has(field) ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([, each]) => each !== undefined && each !== null && !(Array.isArray(each) && each.length === 0))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, each]) => [name, normalized(each, name)]));
}
