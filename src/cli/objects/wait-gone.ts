// Waits until deleted objects are gone, and shows progress.
import type { Client } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/errors.ts';
import type { ApiError } from '../../kube/errors.ts';
import type { AnyObject, Kind, KubeObject } from '../../kube/objects.ts';
import type { Table } from '../../kube/tables/table.ts';
import { checkRuns } from '../../api/description/controllers-hint.ts';
import type { PartName } from '../../api/description/controllers-hint.ts';
import type { Removal } from '../../api/description/deletion.ts';
import { failure } from '../exit.ts';
import { followUntil } from './follow.ts';
import type { ProgressStep } from '../../api/description/tree.ts';
import { durationText, withProgress } from '../terminal/with-progress.ts';

/** Why objects are still there. */
export interface Explanation {
  readonly reasons: readonly string[];
  /** Whether controllers have reported any of them, so that nobody needs to check whether they run. */
  readonly isReported: boolean;
}

/** Looks up why objects are still there. */
export type Explain = () => Promise<Explanation>;

/** Resolves when everything is gone; after the timeout, fails with what is left and why. */
export async function waitGone(
  client: Client,
  removals: readonly Removal[],
  timeoutMs: number,
  part: PartName,
  explain: Explain,
): Promise<void> {
  const steps = new Map<string, ProgressStep>(
    removals.map(({ label }) => [label, { label, state: 'working', note: 'deleting' }]),
  );
  const done = await withProgress(
    timeoutMs,
    async (signal, progress) => {
      progress.show([...steps.values()]);
      const settle = async (removal: Removal): Promise<void> => {
        const { label } = removal;
        const reportTrouble = (error: ApiError): void => {
          steps.set(label, { label, state: 'waiting', note: `${troubleOf(error)}; trying again` });
          progress.show([...steps.values()]);
        };
        const note = await whenGone(client, removal, signal, reportTrouble).then(
          () => 'deleted',
          (error: unknown) => {
            // The user may not be allowed to read all dependents.
            if (isForbidden(error)) return 'not visible to you';
            throw error;
          },
        );
        steps.set(label, { label, state: 'done', note });
        progress.show([...steps.values()]);
      };
      await Promise.all(removals.map(settle));
      return true;
    },
    'the deletion continues without this command',
  );
  if (done) return;
  const open = removals.filter(({ label }) => steps.get(label)?.state !== 'done');
  const left = (await Promise.all(open.map((each) => leftOf(client, each)))).filter((each) => each !== undefined);
  if (left.length === 0) return;
  const isThere = left.some(({ isKnown }) => isKnown);
  const title = `${isThere ? 'not gone' : 'not known to be gone'} after ${durationText(timeoutMs)}`;
  const { reasons, isReported } = isThere ? await explain() : { reasons: [], isReported: true };
  const advice = isReported ? [] : [`${checkRuns(part)}: it is what cleans up`];
  const lines = [title, ...left.map(({ text }) => text), ...reasons, ...advice];
  throw failure('TimedOut', lines.join('\n  '));
}

/** What is left of a removal after the timeout; undefined if nothing is. */
async function leftOf(
  client: Client,
  { label, kind, ref, isDone }: Removal,
): Promise<{ readonly text: string; readonly isKnown: boolean } | undefined> {
  try {
    const found: KubeObject = await client.get(kind as Kind, ref, { timeoutMs: LAST_CHECK_MS });
    return isDone(found) ? undefined : { text: `${label} is still there`, isKnown: true };
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return undefined;
    return { text: `${label} can't be looked up: ${troubleOf(error)}`, isKnown: false };
  }
}

const LAST_CHECK_MS = 3_000;

/** The error message without the request, which differs each time. */
function troubleOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^[A-Z]+ \/\S*: /, '');
}

/** Resolves when an object is gone or cleaned up. */
async function whenGone(
  client: Client,
  { kind, ref, isDone }: Removal,
  signal: AbortSignal,
  onTrouble: (error: ApiError) => void,
): Promise<void> {
  const { name, namespace } = ref;
  const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  const judge = (table: Table<AnyObject>): true | undefined => (table.list().every(isDone) ? true : undefined);
  await followUntil(client, kind as Kind, selection, signal, judge, onTrouble);
}
