// Restarts that the server refused: written down when it does, read by plans, so that a workload waits longer and longer
// for its next try and holds up nobody meanwhile.
import { isRefusal, refusalText } from '../../controller/index.ts';
import type { StepWriter } from '../../controller/index.ts';
import { keyOf, objectOf } from '../../kube/index.ts';
import type { Outcome, Step } from '../../kube/index.ts';
import { WatchableMap } from '../../watchable/index.ts';

interface RestartRefusal {
  /** What the server said. */
  readonly message: string;
  /** How often in a row. */
  readonly times: number;
  /** When it is tried again, for what the server asks for may change unseen. */
  readonly retryAt: number;
}

/** By the key of the workload. */
export type RestartRefusals = WatchableMap<string, RestartRefusal>;

export function restartRefusals(): RestartRefusals {
  return new WatchableMap({ name: 'refused restarts' });
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** Carries steps out, and remembers which workload the server refused to restart. */
export async function writeRestarts(
  steps: readonly Step[],
  writer: StepWriter,
  refusals: RestartRefusals,
): Promise<readonly Outcome[]> {
  try {
    const outcomes = await writer.apply(steps);
    for (const { step } of outcomes) refusals.delete(workloadOf(step));
    return outcomes;
  } catch (error) {
    if (isRefusal(error)) {
      const key = workloadOf(error.step);
      const times = (refusals.load(key)?.times ?? 0) + 1;
      const retryAt = writer.clock.now() + Math.min(FIRST_RETRY_MS * 2 ** Math.min(times - 1, 10), LAST_RETRY_MS);
      refusals.store(key, { message: refusalText(error), times, retryAt });
    }
    throw error;
  }
}

/** The key of the workload that a step restarts: itself, or the owner of a pod that is deleted. */
function workloadOf(step: Step): string {
  const { metadata } = objectOf(step);
  const [owner = { kind: step.kind.kind, name: metadata.name }] =
    step.kind.kind === 'Pod' ? (metadata.ownerReferences ?? []) : [];
  return `${owner.kind} ${keyOf({ ...metadata, name: owner.name })}`;
}
