// Waits until a claim is bound, and shows meanwhile how its space request, namespace and target come to be.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import type { DeploymentTargetClass } from '../../api/targets.ts';
import type { Client, Selection } from '../../kube/client/client.ts';
import { keyOf } from '../../kube/objects.ts';
import type { Kind, KubeObject } from '../../kube/objects.ts';
import { refersTo } from '../../targets/claim-ref.ts';
import { CLAIM_LABEL, DEVSANDBOX, LABEL_LENGTH, NAMESPACE_PROVISIONER } from '../../targets/names.ts';
import { Namespace } from '../../targets/objects.ts';
import { claimSteps } from './progress.ts';
import type { ClaimProgress } from './progress.ts';
import { verdictOf } from './state.ts';
import type { ClaimVerdict } from './state.ts';
import { describeClaim } from './tree.ts';
import { isMadeFor, isNamespaceOf, MADE_NAMESPACES, readClaim } from './world.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { followUntil } from '../objects/follow.ts';
import { problemsOf } from '../terminal/tree.ts';
import { seconds, withProgress } from '../terminal/with-progress.ts';

/** Resolves when a claim is bound; fails with the reason when it never will be, or when the time is up. */
export async function waitBound(
  client: Client,
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass | undefined,
  timeoutMs: number,
): Promise<void> {
  const about = `claim ${keyOf(claim.metadata)}`;
  let world: ClaimProgress = { claim, ofClass, target: undefined, requests: [], namespaces: new Map() };
  const outcome = await withProgress(timeoutMs, async (signal, progress) => {
    const look = (news: Partial<ClaimProgress>): void => {
      world = { ...world, ...news };
      // The end is shown once everything was read anew: news of different kinds come in any order.
      if (verdictOf(world.claim).is !== 'bound') progress.show(claimSteps(world));
    };
    look({});
    const ending = new AbortController();
    const parts = followParts(client, world, AbortSignal.any([signal, ending.signal]), look);
    try {
      const verdict = await followClaim(client, claim, signal, (latest) => look({ claim: latest }));
      if (verdict.is === 'bound') progress.show(claimSteps(await readClaim(client, world.claim)));
      return verdict;
    } finally {
      ending.abort();
      await parts;
    }
  });
  if (outcome?.is === 'bound') return;
  if (outcome?.is === 'stuck') throw new CommandFailed(EXIT.error, `${about} can't be bound: ${outcome.reason}`);
  const reasons = problemsOf(describeClaim(await readClaim(client, world.claim)).tree);
  throw new CommandFailed(
    EXIT.timedOut,
    [`${about} is not bound after ${seconds(timeoutMs)}`, ...reasons].join('\n  '),
  );
}

function followClaim(
  client: Client,
  { metadata }: DeploymentTargetClaim,
  signal: AbortSignal,
  look: (latest: DeploymentTargetClaim) => void,
): Promise<Exclude<ClaimVerdict, { is: 'open' }>> {
  const selection = { namespace: metadata.namespace!, fieldSelector: `metadata.name=${metadata.name}` };
  return followUntil(client, DeploymentTargetClaim, selection, signal, (table) => {
    const [found] = table.list();
    if (found === undefined) throw new CommandFailed(EXIT.error, `claim ${keyOf(metadata)} was deleted`);
    look(found);
    const verdict = verdictOf(found);
    return verdict.is === 'open' ? undefined : verdict;
  });
}

/** Follows what comes to be for a claim, until the signal. */
async function followParts(
  client: Client,
  { claim, ofClass }: ClaimProgress,
  signal: AbortSignal,
  look: (news: Partial<ClaimProgress>) => void,
): Promise<void> {
  const { name, namespace } = claim.metadata;
  const provisioner = ofClass?.spec.provisioner;
  const follow = async <T extends KubeObject>(
    kind: Kind<T>,
    selection: Selection,
    news: (objects: readonly T[]) => Partial<ClaimProgress>,
  ): Promise<void> => {
    try {
      await followUntil<T, never>(client, kind, selection, signal, (table) => {
        look(news(table.list()));
        return undefined;
      });
    } catch {
      // Whoever may claim may not see all of it; and the claim alone decides how the waiting ends.
    }
  };
  await Promise.all([
    follow(DeploymentTarget, { namespace: namespace! }, (targets) => ({
      target: targets.find((each) => refersTo(each, claim) || each.metadata.name === claim.spec.targetName),
    })),
    provisioner === DEVSANDBOX && name.length <= LABEL_LENGTH
      ? follow(SpaceRequest, { namespace: namespace!, labelSelector: `${CLAIM_LABEL}=${name}` }, (requests) => ({
          requests: requests.filter((each) => isMadeFor(claim, each)),
        }))
      : undefined,
    provisioner === NAMESPACE_PROVISIONER
      ? follow(Namespace, { labelSelector: MADE_NAMESPACES }, (namespaces) => ({
          namespaces: new Map(
            namespaces.filter((each) => isNamespaceOf(claim, each)).map((each) => [each.metadata.name, each]),
          ),
        }))
      : undefined,
  ]);
}
