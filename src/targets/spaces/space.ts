// Spaces: the namespaces of a tier, made and kept in one cluster.
import { Space } from '../../api/spaces.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Plan, View } from '../../controller/index.ts';
import { edit, own, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { LAST_CLAIM, TOOLCHAIN_FINALIZER } from '../names.ts';
import { Namespace, ServiceAccount } from '../objects.ts';
import type { Settings } from '../settings.ts';
import { report } from './conditions.ts';
import { namespaceDeleted } from './deleted.ts';
import { spaceFailure } from './failure.ts';
import { membersOf } from './members.ts';
import { PARENT_LABEL, SPACE_LABEL, STATE_LABEL, tierHashLabel } from './names.ts';
import { tierHash, tierNamed, tierNotFound } from './tiers.ts';
import type { Tier, TierNamespace } from './tiers.ts';
import { namespacesOf } from './world.ts';

/** How long the deletion of a namespace may take. */
const STUCK_MS = 60_000;
/** How soon to check a space again after it was changed. */
const SETTLE_MS = 1000;

export function spaces(settings: Settings): ControllerDefinition {
  return defineController<Space>({
    name: 'spaces',
    kind: Space,
    finalizers: [TOOLCHAIN_FINALIZER],
    plan: (view, space) => planSpace(view, space, settings),
    failed: (space, failure, now) => report({ now: () => now }, space, spaceFailure(space, failure)),
  });
}

/** Plans one space. */
export function planSpace(view: View, space: Space, { cluster, tiers }: Settings): Plan {
  if (space.metadata.deletionTimestamp !== undefined) return planDeletion(view, space, cluster.name);
  const { tierName = '', targetCluster = '' } = space.spec;
  const current = space.status?.targetCluster ?? '';
  if (current !== '' && current !== targetCluster) return moveAway(view, space, cluster.name);

  const pending = (message: string): Plan => ({
    ...report(view, space, { reason: 'ProvisioningPending', message }),
    steps: labelSteps(space, { [STATE_LABEL]: 'pending' }),
  });
  if (tierName === '') return pending('unspecified tier name');
  if (targetCluster === '') return pending('unspecified target member cluster');
  const assigned = labelSteps(space, { [STATE_LABEL]: 'cluster-assigned' });
  const failed = (message: string): Plan => ({
    ...report(view, space, { reason: 'UnableToProvision', message }),
    steps: assigned,
  });
  if (targetCluster !== cluster.name) return failed(`unknown target member cluster '${targetCluster}'`);
  const tier = tierNamed(tierName, tiers);
  if (tier === undefined) return failed(tierNotFound(tierName));
  const desired = tier.namespaces(space, membersOf(view, space));
  const problem = desired.map(({ namespace }) => obstacle(view, space, namespace)).find((each) => each !== undefined);
  if (problem !== undefined) return failed(problem);
  return provision(view, space, tier, desired, assigned);
}

/** Why a namespace can't be made: its name is taken, or it was deleted, and an empty one would not be the same. */
function obstacle(view: View, space: Space, { metadata }: Namespace): string | undefined {
  const live = view.get(Namespace, { name: metadata.name });
  const wasMade = space.status?.provisionedNamespaces?.some(({ name }) => name === metadata.name);
  if (wasMade && (live === undefined || live.metadata.deletionTimestamp !== undefined)) {
    return namespaceDeleted(metadata.name);
  }
  if (live === undefined || live.metadata.labels?.[SPACE_LABEL] === space.metadata.name) return undefined;
  return `namespace ${metadata.name} exists already and does not belong to the space`;
}

function provision(
  view: View,
  space: Space,
  tier: Tier,
  desired: readonly TierNamespace[],
  assigned: readonly Step[],
): Plan {
  const targetCluster = space.spec.targetCluster!;
  // Nothing can be created in a namespace that is being deleted; it is recreated afterwards.
  const isEnding = ({ metadata }: Namespace): boolean =>
    view.get(Namespace, { name: metadata.name })?.metadata.deletionTimestamp !== undefined;
  const made: Step[] = desired.flatMap(({ namespace, contents }) =>
    isEnding(namespace) ? [] : [own(Namespace, namespace), ...contents.map(({ kind, object }) => own(kind, object))],
  );
  const surplus = namespacesOf(view, space).filter(
    ({ metadata }) => !desired.some(({ namespace }) => namespace.metadata.name === metadata.name),
  );
  const steps = [
    ...outdatedAccounts(view, desired),
    ...made,
    ...surplus.map((namespace) => remove(Namespace, namespace)),
  ];
  const isComplete = desired.every(
    ({ namespace, contents }) =>
      view.get(Namespace, namespace.metadata) !== undefined &&
      !isEnding(namespace) &&
      contents.every(({ kind, object }) => view.get(kind, object.metadata) !== undefined),
  );
  const hash = { [tierHashLabel(tier.name)]: tierHash(desired) };
  const isCurrent = Object.entries(hash).every(([label, value]) => space.metadata.labels?.[label] === value);
  const status = { ...space.status, targetCluster };
  const wasMade = (space.status?.provisionedNamespaces ?? []).length > 0;
  if (!isComplete || surplus.length > 0) {
    const reason = wasMade && !isCurrent ? 'Updating' : 'Provisioning';
    return { ...report(view, space, { reason }, status), steps: [...assigned, ...steps], requeueAfterMs: SETTLE_MS };
  }
  const settled = [...steps, ...labelSteps(space, settledLabels(space, hash))];
  if (wasMade && !isCurrent) {
    return { ...report(view, space, { reason: 'Updating' }, status), steps: settled, requeueAfterMs: SETTLE_MS };
  }
  const names = desired.map(({ namespace }) => namespace.metadata.name).sort();
  const provisionedNamespaces = names.map((name, i) => (i === 0 ? { name, type: 'default' } : { name }));
  return { ...report(view, space, { reason: 'Provisioned' }, { ...status, provisionedNamespaces }), steps: settled };
}

/** Service accounts of an earlier claim: they are recreated, which revokes their tokens. */
function outdatedAccounts(view: View, desired: readonly TierNamespace[]): Step[] {
  return desired.flatMap(({ contents }) =>
    contents.flatMap(({ kind, object }) => {
      const live = kind === ServiceAccount ? view.get(ServiceAccount, object.metadata) : undefined;
      const isSame = live?.metadata.annotations?.[LAST_CLAIM] === object.metadata.annotations?.[LAST_CLAIM];
      return live === undefined || isSame ? [] : [remove(ServiceAccount, live)];
    }),
  );
}

/** The labels of a provisioned space: hashes of other tiers are removed. */
function settledLabels(space: Space, hash: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const isHash = new RegExp(`^${tierHashLabel('.+')}$`);
  const stale = Object.keys(space.metadata.labels ?? {}).filter((label) => isHash.test(label));
  const { parentSpace } = space.spec;
  return {
    ...Object.fromEntries(stale.map((label) => [label, undefined])),
    ...hash,
    [STATE_LABEL]: 'cluster-assigned',
    ...(parentSpace && { [PARENT_LABEL]: parentSpace }),
  };
}

/** Deletes the namespaces of a space that moves to another cluster. */
function moveAway(view: View, space: Space, here: string): Plan {
  const current = space.status!.targetCluster!;
  if (current !== here) {
    const message = `cannot delete NSTemplateSet: unknown target member cluster: '${current}'`;
    return report(view, space, { reason: 'UnableToRetarget', message });
  }
  const [next] = namespacesOf(view, space);
  const retargeting = { reason: 'Retargeting' } as const;
  if (next !== undefined) return { ...report(view, space, retargeting), steps: [remove(Namespace, next)] };
  const { targetCluster: _left, provisionedNamespaces: _gone, ...rest } = space.status!;
  return report(view, space, retargeting, rest);
}

/** Deletes the namespaces one at a time, and then the space. */
function planDeletion(view: View, space: Space, here: string): Plan {
  const cluster = space.spec.targetCluster || space.status?.targetCluster || '';
  if (cluster === '') return { finished: true };
  if (cluster !== here) {
    if (!space.status?.targetCluster) return { finished: true };
    const message = `cannot delete NSTemplateSet: unknown target member cluster: '${cluster}'`;
    return report(view, space, { reason: 'UnableToTerminate', message });
  }
  const namespaces = namespacesOf(view, space);
  const deleting = namespaces.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const next = deleting ?? namespaces[0];
  if (next === undefined) return { finished: true };
  const since = Date.parse(next.metadata.deletionTimestamp ?? '') || view.now();
  const leftMs = since + STUCK_MS - view.now();
  if (leftMs < 0) {
    const message = 'NSTemplateSet deletion has not completed in over 1 minute';
    return report(view, space, { reason: 'UnableToTerminate', message });
  }
  const plan = report(view, space, { reason: 'Terminating' });
  return { ...plan, steps: [remove(Namespace, next)], requeueAfterMs: leftMs + 1 };
}

function labelSteps(space: Space, changes: Readonly<Record<string, string | undefined>>): Step[] {
  const labels = { ...space.metadata.labels, ...changes } as Record<string, string>;
  const isSame = Object.entries(changes).every(([name, value]) => space.metadata.labels?.[name] === value);
  return isSame ? [] : [edit(Space, space, { ...space, metadata: { ...space.metadata, labels } })];
}
