// Restarts that the server refused: recorded by writes and read by plans, so that a workload is retried with backoff
// and does not block others meanwhile.
import type { Attempt, Notes } from '../../controller/index.ts';
import { keyOf, objectOf } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { WatchableMap } from '../../watchable/index.ts';

interface RestartRefusal {
  /** The message of the server. */
  readonly message: string;
  /** The number of refusals in a row. */
  readonly times: number;
  /** When to retry, as the reason for the refusal may disappear without an event. */
  readonly retryAt: number;
}

/** Refusals by the key of the workload. */
export type RestartRefusals = WatchableMap<string, RestartRefusal>;

export function restartRefusals(): RestartRefusals {
  return new WatchableMap({ name: 'refused restarts' });
}

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** Executes steps, and records which workloads the server refused to restart; the others continue. */
export function* writeRestarts(
  steps: readonly Step[],
  notes: Notes,
  refusals: RestartRefusals,
): Generator<Step, void, Attempt> {
  for (const step of steps) {
    const attempt = yield step;
    const key = workloadOf(step);
    const before = notes.read.get(refusals, key);
    if (attempt.did === 'refused') {
      const times = (before?.times ?? 0) + 1;
      const retryAt = notes.now() + Math.min(FIRST_RETRY_MS * 2 ** Math.min(times - 1, 10), LAST_RETRY_MS);
      notes.store(refusals, key, { message: attempt.message, times, retryAt });
    } else if (before !== undefined) notes.delete(refusals, key);
  }
}

/** The key of the workload that a step restarts: itself, or the owner of a pod that is deleted. */
function workloadOf(step: Step): string {
  const { metadata } = objectOf(step);
  const [owner = { kind: step.kind.kind, name: metadata.name }] =
    step.kind.kind === 'Pod' ? (metadata.ownerReferences ?? []) : [];
  return `${owner.kind} ${keyOf({ ...metadata, name: owner.name })}`;
}
