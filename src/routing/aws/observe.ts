// Lists the resources of a mesh at AWS, with their owners, and the specs of those that we may write.
import { isOwnedBy, ownerIn, partOf } from './resources.ts';
import type { Part } from './resources.ts';
import { RESOURCE_TYPES } from '../reconcile/resources.ts';
import type { Found, Resource } from '../reconcile/resources.ts';
import { errorKindOf } from './api.ts';
import type { AppMeshApi, PartRef, PartType, Tags } from './api.ts';
import { eachOf, withRetry } from './retry.ts';
import type { RetryPolicy } from './retry.ts';

/** A resource that was found, with its spec if it was described. */
export type Observed = Found<Resource & Partial<Part>> & { readonly arn: string; readonly tags?: Tags };

export interface Observation {
  /** Whether the mesh itself exists. */
  readonly hasMesh: boolean;
  readonly found: readonly Observed[];
}

/** Observes a mesh. Resources of other owners are described only if we want to write them. */
export async function observe(
  api: AppMeshApi,
  meshName: string,
  owner: string,
  isDesired: (ref: PartRef) => boolean,
  retryPolicy: RetryPolicy,
): Promise<Observation> {
  const mesh = await withRetry(() => api.mesh(meshName), retryPolicy);
  if (mesh === undefined) return { hasMesh: false, found: [] };
  const listOf = (type: PartType, router?: string) => withRetry(() => api.list(meshName, type, router), retryPolicy);
  const [nodes, routers, services] = await Promise.all([
    listOf('virtualNode'),
    listOf('virtualRouter'),
    listOf('virtualService'),
  ]);
  const routes = await eachOf(routers, ({ name }) => orIfAbsent([], listOf('route', name)));
  const all = [...nodes, ...routers, ...routes.flat(), ...services];
  const found = await eachOf(all, async ({ arn, ...ref }): Promise<readonly Observed[]> => {
    const tags = await orIfAbsent(
      undefined,
      withRetry(() => api.tags(arn), retryPolicy),
    );
    if (tags === undefined) return [];
    const isOurs = isOwnedBy(owner, tags);
    const whose = isOurs ? { isOurs } : { isOurs, ...ownerIn(tags) };
    if (!isOurs && !isDesired(ref)) return [{ ...partOf(ref, {}), ...whose, arn }];
    // It may have been deleted since it was listed.
    const described = await orIfAbsent(
      undefined,
      withRetry(() => api.describe(meshName, ref), retryPolicy),
    );
    return described === undefined ? [] : [{ ...partOf(ref, described.spec), ...whose, arn, tags }];
  });
  const meshTags = await withRetry(() => api.tags(mesh.arn), retryPolicy);
  const itself: Observed = {
    type: RESOURCE_TYPES[0],
    id: meshName,
    name: meshName,
    arn: mesh.arn,
    isOurs: isOwnedBy(owner, meshTags),
  };
  return { hasMesh: true, found: [itself, ...found.flat()] };
}

async function orIfAbsent<T, A>(absent: A, answer: Promise<T>): Promise<T | A> {
  try {
    return await answer;
  } catch (error) {
    if (errorKindOf(error) === 'absent') return absent;
    throw error;
  }
}
