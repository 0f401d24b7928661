// `offshoot claim delete`: removes claims, and waits until they and what their class does not keep are gone.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { RECLAIM_POLICY } from '../../targets/names.ts';
import { Namespace } from '../../targets/objects.ts';
import { reclaimPolicyOf } from '../../targets/world.ts';
import { refersTo } from '../../targets/claim-ref.ts';
import { CLAIM } from './nouns.ts';
import { describeClaim } from './tree.ts';
import { readClaim } from './world.ts';
import type { ClaimWorld } from './world.ts';
import { deleteObjects } from '../objects/delete.ts';
import type { DeleteFlags } from '../objects/delete.ts';
import { leavingObject } from '../objects/wait-gone.ts';
import type { Leaving } from '../objects/wait-gone.ts';
import { getNamed } from '../objects/find.ts';
import { connected } from '../options.ts';
import { readable } from '../objects/readable.ts';
import { problemsOf } from '../terminal/tree.ts';

/** Deletes claims. All of them must exist before any is deleted. */
export function deleteClaims(names: readonly string[], options: DeleteFlags): Promise<void> {
  return connected(options, async ({ client, namespace }) => {
    const claims = await Promise.all([...new Set(names)].map((name) => getNamed(client, CLAIM, { name, namespace })));
    const worlds = await Promise.all(claims.map((claim) => readClaim(client, claim)));
    const leaving: Leaving[] = [];
    for (const world of worlds) {
      const keeps = (await policyOf(client, world)) === 'Retain';
      const target = ownTarget(world);
      if (keeps && target !== undefined) console.error(`staying: Target ${keyOf(target.metadata)}`);
      leaving.push(...leavingWith(world, keeps));
    }
    await deleteObjects(client, DeploymentTargetClaim, claims, leaving, options, 'targets', () =>
      reasonsOf(client, claims),
    );
  });
}

/** What becomes of the target: what its claim's class says, or its own, or what was written on it. */
async function policyOf(client: Client, { ofClass, target }: ClaimWorld): Promise<'Delete' | 'Retain'> {
  const name = target?.spec.deploymentTargetClassName ?? '';
  const isOther = ofClass === undefined && name !== '';
  const ofTarget = isOther ? await readable(client.get(DeploymentTargetClass, { name })) : undefined;
  return reclaimPolicyOf(
    ofClass?.spec.reclaimPolicy,
    ofTarget?.spec.reclaimPolicy,
    target?.metadata.annotations?.[RECLAIM_POLICY],
  );
}

/** A target that the claim only wished for goes nowhere with it. */
function ownTarget({ claim, target }: ClaimWorld): DeploymentTarget | undefined {
  return target !== undefined && refersTo(target, claim) ? target : undefined;
}

/** What goes with a claim, the claim itself last. */
function leavingWith(world: ClaimWorld, keeps: boolean): Leaving[] {
  const { claim, requests, namespaces } = world;
  const target = ownTarget(world);
  const itself = leavingObject(DeploymentTargetClaim, claim, `Claim ${keyOf(claim.metadata)}`);
  if (keeps) return [itself];
  return [
    ...[...namespaces].flatMap(([name, found]) =>
      found === 'hidden' ? [] : [leavingObject(Namespace, found, `Namespace ${name}`)],
    ),
    ...requests.map((each) => leavingObject(SpaceRequest, each, `SpaceRequest ${keyOf(each.metadata)}`)),
    ...(target === undefined ? [] : [leavingObject(DeploymentTarget, target, `Target ${keyOf(target.metadata)}`)]),
    itself,
  ];
}

/** Why claims are still there. */
async function reasonsOf(client: Client, claims: readonly DeploymentTargetClaim[]): Promise<readonly string[]> {
  const reasons = claims.map(async ({ metadata }) => {
    try {
      const claim = await client.get(DeploymentTargetClaim, metadata);
      return problemsOf(describeClaim(await readClaim(client, claim)).tree);
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  });
  return (await Promise.all(reasons)).flat();
}
