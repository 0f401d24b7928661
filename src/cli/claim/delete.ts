// `offshoot claim delete`: deletes claims, and waits until they and everything that their class does not retain are
// gone.
import { problemsOf } from '../../api/description/tree.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { keyOf } from '../../kube/objects.ts';
import { claimDeletion, claimWorld, describeClaim, isDeletionReported } from '../../targets/index.ts';
import { deleteObjects } from '../objects/delete.ts';
import type { DeleteFlags } from '../objects/delete.ts';
import { fetchFor } from '../objects/fetch.ts';
import type { Explanation } from '../objects/wait-gone.ts';
import { selectObjects } from '../objects/select.ts';
import type { SelectOptions } from '../objects/select.ts';
import { withConnection } from '../options.ts';
import { CLAIM } from './nouns.ts';

export interface ClaimDeleteOptions extends DeleteFlags, SelectOptions {}

/** Deletes claims. All of them must exist before any is deleted. */
export function deleteClaims(names: readonly string[], options: ClaimDeleteOptions): Promise<void> {
  return withConnection(options, async (connection) => {
    const { client } = connection;
    const claims = await selectObjects(CLAIM, names, options, connection, 'delete');
    if (claims.length === 0) return;
    const deletions = await fetchFor(client, (read) =>
      claims.map((claim) => claimDeletion(read, claimWorld(read, claim))),
    );
    for (const { kept } of deletions) if (kept !== undefined) console.error(`keeping: Target ${keyOf(kept.metadata)}`);
    const removals = deletions.flatMap((deletion) => deletion.removals);
    await deleteObjects(client, DeploymentTargetClaim, claims, removals, options, 'targets', () =>
      explanationOf(client, claims),
    );
  });
}

/** Why claims still exist. */
async function explanationOf(client: Client, claims: readonly DeploymentTargetClaim[]): Promise<Explanation> {
  const explanations = claims.map(async ({ metadata }) => {
    try {
      const claim = await client.get(DeploymentTargetClaim, metadata);
      return await fetchFor(client, (read) => {
        const world = claimWorld(read, claim);
        return { reasons: problemsOf(describeClaim(world).tree), isReported: isDeletionReported(world) };
      });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  });
  const found = (await Promise.all(explanations)).filter((each) => each !== undefined);
  // What the server reports about the namespace of one claim does not show that controllers work on the others.
  const isReported = found.length > 0 && found.every((each) => each.isReported);
  return { reasons: found.flatMap(({ reasons }) => reasons), isReported };
}
