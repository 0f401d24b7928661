// What AWS has of a mesh: every resource, whose it is, and the specs of those that may concern us.
import { isOwnedBy, ownerIn, partOf } from './resources.ts';
import type { Part } from './resources.ts';
import { RESOURCE_TYPES } from '../reconcile/resources.ts';
import type { Found, Resource } from '../reconcile/resources.ts';
import { meaningOf } from './api.ts';
import type { AppMeshApi, PartRef, PartType, Tags } from './api.ts';
import { eachOf, patiently } from './retry.ts';
import type { Patience } from './retry.ts';

/** A resource that was found, with the spec that it has if that was looked at. */
export type Observed = Found<Resource & Partial<Part>> & { readonly arn: string; readonly tags?: Tags };

export interface Observation {
  /** Whether the mesh itself is there. */
  readonly hasMesh: boolean;
  readonly found: readonly Observed[];
}

/** Observes a mesh. Of what others made, only what is `wanted` is looked at more closely. */
export async function observe(
  api: AppMeshApi,
  meshName: string,
  owner: string,
  isWanted: (ref: PartRef) => boolean,
  patience: Patience,
): Promise<Observation> {
  const mesh = await patiently(() => api.mesh(meshName), patience);
  if (mesh === undefined) return { hasMesh: false, found: [] };
  const listOf = (type: PartType, router?: string) => patiently(() => api.list(meshName, type, router), patience);
  const [nodes, routers, services] = await Promise.all([
    listOf('virtualNode'),
    listOf('virtualRouter'),
    listOf('virtualService'),
  ]);
  const routes = await eachOf(routers, ({ name }) => absentAs([], listOf('route', name)));
  const all = [...nodes, ...routers, ...routes.flat(), ...services];
  const found = await eachOf(all, async ({ arn, ...ref }): Promise<readonly Observed[]> => {
    const tags = await absentAs(
      undefined,
      patiently(() => api.tags(arn), patience),
    );
    if (tags === undefined) return [];
    const isOurs = isOwnedBy(owner, tags);
    const whose = isOurs ? { isOurs } : { isOurs, ...ownerIn(tags) };
    if (!isOurs && !isWanted(ref)) return [{ ...partOf(ref, {}), ...whose, arn }];
    // It may have gone since it was listed.
    const described = await absentAs(
      undefined,
      patiently(() => api.describe(meshName, ref), patience),
    );
    return described === undefined ? [] : [{ ...partOf(ref, described.spec), ...whose, arn, tags }];
  });
  const meshTags = await patiently(() => api.tags(mesh.arn), patience);
  const itself: Observed = {
    type: RESOURCE_TYPES[0],
    id: meshName,
    name: meshName,
    arn: mesh.arn,
    isOurs: isOwnedBy(owner, meshTags),
  };
  return { hasMesh: true, found: [itself, ...found.flat()] };
}

async function absentAs<T, A>(absent: A, answer: Promise<T>): Promise<T | A> {
  try {
    return await answer;
  } catch (error) {
    if (meaningOf(error) === 'absent') return absent;
    throw error;
  }
}
