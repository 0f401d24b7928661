// Waits until a claim is bound, and shows the progress of its space request, namespace and target.
import { problemsOf } from '../../api/description/tree.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import type { Client } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { claimSteps, claimWorld, describeClaim, progressSources, verdictOf } from '../../targets/index.ts';
import type { ClaimProgress, ClaimVerdict, ProgressSource } from '../../targets/index.ts';
import { failure } from '../exit.ts';
import { fetchFor } from '../objects/fetch.ts';
import { followUntil } from '../objects/follow.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';

/** Resolves when a claim is bound; fails with the reason when it is stalled or after the timeout. */
export async function waitBound(
  client: Client,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass | undefined,
  timeoutMs: number,
): Promise<void> {
  const about = `claim ${keyOf(claim.metadata)}`;
  let world: ClaimProgress = { claim, ofClass, target: undefined, requests: [], namespaces: new Map() };
  const outcome = await withProgress(
    timeoutMs,
    async (signal, progress) => {
      const update = (changes: Partial<ClaimProgress>): void => {
        world = { ...world, ...changes };
        // The final state is shown after everything is read again: watches of different kinds are not ordered.
        if (verdictOf(world.claim).is !== 'bound') progress.show(claimSteps(world));
      };
      update({});
      const bound = new AbortController();
      const parts = followParts(client, world, AbortSignal.any([signal, bound.signal]), update);
      try {
        const verdict = await followClaim(client, claim, signal, (latest) => update({ claim: latest }));
        if (verdict.is === 'bound')
          progress.show(claimSteps(await fetchFor(client, (read) => claimWorld(read, world.claim))));
        return verdict;
      } finally {
        bound.abort();
        await parts;
      }
    },
    `${about} is left as it is, and the controllers go on; see "offshoot claim describe ${claim.metadata.name} -n ${claim.metadata.namespace}"`,
  );
  const isBound = (): boolean => world.claim.status?.phase === 'Bound';
  if (outcome?.is === 'bound') return;
  if (outcome?.is === 'stuck')
    throw failure('Stalled', `${about} can't be ${isBound() ? 'used' : 'bound'}: ${outcome.reason}`);
  const { tree } = await fetchFor(client, (read) => describeClaim(claimWorld(read, world.claim)));
  const reasons = problemsOf(tree);
  const isNot = isBound() ? 'is bound but not ready' : 'is not bound';
  throw failure('TimedOut', [`${about} ${isNot} after ${durationText(timeoutMs)}`, ...reasons].join('\n  '));
}

function followClaim(
  client: Client,
  { metadata }: DeploymentTargetClaim,
  signal: AbortSignal,
  update: (latest: DeploymentTargetClaim) => void,
): Promise<Exclude<ClaimVerdict, { is: 'open' }>> {
  const selection = { namespace: metadata.namespace!, fieldSelector: `metadata.name=${metadata.name}` };
  return followUntil(client, DeploymentTargetClaim, selection, signal, (table) => {
    const [found] = table.list();
    if (found === undefined) throw failure('Deleted', `claim ${keyOf(metadata)} was deleted`);
    update(found);
    const verdict = verdictOf(found);
    return verdict.is === 'open' ? undefined : verdict;
  });
}

/** Watches the objects that are created for a claim, until the signal aborts. */
async function followParts(
  client: Client,
  { claim, ofClass }: ClaimProgress,
  signal: AbortSignal,
  update: (changes: Partial<ClaimProgress>) => void,
): Promise<void> {
  const follow = async ({ kind, selection, seen }: ProgressSource): Promise<void> => {
    try {
      await followUntil<KubeObject, never>(client, kind, selection, signal, (table) => {
        update(seen(table.list()));
        return undefined;
      });
    } catch {
      // The user may not be allowed to watch all of these; the claim alone decides when the wait ends.
    }
  };
  await Promise.all(progressSources(claim, ofClass).map(follow));
}
