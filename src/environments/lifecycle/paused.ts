// Paused environments: the controllers write only their status. Deletion and expiry still work.
import type { ConsumerStatus, DynamicEnv, SubsetStatus } from '../../api/dynamicenv.ts';
import type { PlannedCondition } from '../../controller/index.ts';
import type { Decision } from '../decision.ts';
import { drainingSinceOf } from '../prune.ts';
import type { Pruning } from '../prune.ts';
import type { ReasonOf } from '../reasons.ts';

/** Whether nothing is written for an environment but its status. */
export function isPaused({ metadata, spec }: DynamicEnv): boolean {
  return spec?.paused === true && metadata.deletionTimestamp === undefined;
}

export const PAUSED: PlannedCondition = {
  type: 'Paused',
  status: 'True',
  reason: 'Paused' satisfies ReasonOf<'Paused'>,
  message: 'only its status is written until spec.paused is unset',
};

/** Objects that a paused environment no longer needs are kept, and stay in its status. */
export function pausedPruning(env: DynamicEnv, decisions: readonly Decision[], now: number): Pruning {
  const drainingSince = drainingSinceOf(env, now);
  const { subsetsStatus, consumersStatus } = env.status ?? {};
  const others = <S>(entries: Readonly<Record<string, S>> = {}, consumer: boolean): Record<string, S> =>
    Object.fromEntries(
      Object.entries(entries).filter(
        ([key]) => !decisions.some((each) => each.consumer === consumer && each.key === key),
      ),
    );
  const [subsets, consumers] = [
    others<SubsetStatus>(subsetsStatus, false),
    others<ConsumerStatus>(consumersStatus, true),
  ];
  return {
    steps: [],
    subsets,
    consumers,
    ...(drainingSince !== undefined && { drainingSince }),
    gone: Object.keys({ ...subsets, ...consumers }).length === 0,
    isDrained: false,
    refusals: [],
  };
}
