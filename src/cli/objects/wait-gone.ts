// Waits until things that were deleted are gone, and shows which are still there meanwhile.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { Kind, KubeObject, Ref } from '../../kube/objects.ts';
import { checkRuns } from './controllers-hint.ts';
import type { PartName } from './controllers-hint.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { followUntil } from './follow.ts';
import type { ProgressStep } from '../terminal/progress.ts';
import { seconds, withProgress } from '../terminal/with-progress.ts';

/** One thing that goes. */
export interface Leaving {
  readonly label: string;
  /** Resolves when it is gone. */
  readonly whenGone: (client: Client, signal: AbortSignal) => Promise<void>;
}

/** An object that goes, or that stays and gets clean. */
export function leaving<T extends KubeObject>(
  kind: Kind<T>,
  { name, namespace }: Ref,
  label: string,
  isClean: (object: T) => boolean = () => false,
): Leaving {
  const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  return {
    label,
    whenGone: async (client, signal) => {
      await followUntil(client, kind, selection, signal, (table) => (table.list().every(isClean) ? true : undefined));
    },
  };
}

/** The same for this very object: another one that comes by its name is no reason to wait. */
export function leavingObject<T extends KubeObject>(kind: Kind<T>, { metadata }: T, label: string): Leaving {
  return leaving(kind, metadata, label, (found) => found.metadata.uid !== metadata.uid);
}

/** Resolves when everything is gone; fails with what is left, and why as far as known, when the time is up. */
export async function waitGone(
  client: Client,
  things: readonly Leaving[],
  timeoutMs: number,
  part: PartName,
  reasons: () => Promise<readonly string[]> = async () => [],
): Promise<void> {
  const steps = new Map<string, ProgressStep>(
    things.map(({ label }) => [label, { label, state: 'working', note: 'leaving' }]),
  );
  const done = await withProgress(timeoutMs, async (signal, progress) => {
    progress.show([...steps.values()]);
    const settle = async ({ label, whenGone }: Leaving): Promise<void> => {
      const note = await whenGone(client, signal).then(
        () => 'gone',
        (error: unknown) => {
          // Whoever may delete something may not see all that goes with it.
          if (isForbidden(error)) return 'not visible to you';
          throw error;
        },
      );
      steps.set(label, { label, state: 'done', note });
      progress.show([...steps.values()]);
    };
    await Promise.all(things.map(settle));
    return true;
  });
  if (done) return;
  const left = [...steps.values()]
    .filter(({ state }) => state !== 'done')
    .map(({ label }) => `${label} is still there`);
  const hint = `${checkRuns(part)}: it is what cleans up`;
  throw new CommandFailed(
    EXIT.timedOut,
    [`not gone after ${seconds(timeoutMs)}`, ...left, ...(await reasons()), hint].join('\n  '),
  );
}
