// Restarts that the server refused: written down when it does, read by plans, so that a workload waits longer and longer
// for its next try and holds up nobody meanwhile.
import type { Attempt, Notes } from '../../controller/index.ts';
import { keyOf, objectOf } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
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

/** Carries steps out, and notes which workload the server refused to restart: the others go on. */
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
