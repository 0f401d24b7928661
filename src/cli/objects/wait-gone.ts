// Waits until things that were deleted are gone, and shows which are still there meanwhile.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import { checkRuns } from '../../api/description/controllers-hint.ts';
import type { PartName } from '../../api/description/controllers-hint.ts';
import type { Removal } from '../../api/description/deletion.ts';
import { failure } from '../exit.ts';
import { followUntil } from './follow.ts';
import type { ProgressStep } from '../../api/description/tree.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';

/** Resolves when everything is gone; fails with what is left, and why as far as known, when the time is up. */
export async function waitGone(
  client: Client,
  removals: readonly Removal[],
  timeoutMs: number,
  part: PartName,
  reasons: () => Promise<readonly string[]> = async () => [],
): Promise<void> {
  const steps = new Map<string, ProgressStep>(
    removals.map(({ label }) => [label, { label, state: 'working', note: 'deleting' }]),
  );
  const done = await withProgress(timeoutMs, async (signal, progress) => {
    progress.show([...steps.values()]);
    const settle = async (removal: Removal): Promise<void> => {
      const { label } = removal;
      const note = await whenGone(client, removal, signal).then(
        () => 'deleted',
        (error: unknown) => {
          // Whoever may delete something may not see all that goes with it.
          if (isForbidden(error)) return 'not visible to you';
          throw error;
        },
      );
      steps.set(label, { label, state: 'done', note });
      progress.show([...steps.values()]);
    };
    await Promise.all(removals.map(settle));
    return true;
  });
  if (done) return;
  const left = [...steps.values()]
    .filter(({ state }) => state !== 'done')
    .map(({ label }) => `${label} is still there`);
  const hint = `${checkRuns(part)}: it is what cleans up`;
  throw failure(
    'TimedOut',
    [`not gone after ${durationText(timeoutMs)}`, ...left, ...(await reasons()), hint].join('\n  '),
  );
}

/** Resolves when an object is gone, or clean. */
async function whenGone(client: Client, { kind, ref, isDone }: Removal, signal: AbortSignal): Promise<void> {
  const { name, namespace } = ref;
  const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  await followUntil(client, kind, selection, signal, (table) => (table.list().every(isDone) ? true : undefined));
}
