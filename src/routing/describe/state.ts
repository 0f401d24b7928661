// How a routing rule or a mesh is, in one word and with what is wrong.
import { conditionsOf, statusOf } from '../../controller/conditions.ts';
import type { KubeObject } from '../../kube/index.ts';

/** The words of `stateOf`. */
export const STATES = ['Ready', 'Degraded', 'Pending', 'Rejected', 'Failed', 'Deleting'] as const;

/** One word. A rule that nobody has looked at is pending, as it was with the original; of a degraded one a part is in effect. */
export function stateOf(object: KubeObject): (typeof STATES)[number] {
  if (object.metadata.deletionTimestamp !== undefined) return 'Deleting';
  const conditions = conditionsOf(object);
  const isTrue = (wanted: string): boolean =>
    conditions.some(({ type, status }) => type === wanted && status === 'True');
  const isFalse = (wanted: string): boolean =>
    conditions.some(({ type, status }) => type === wanted && status === 'False');
  if (isTrue('Stalled')) return 'Failed';
  if (isFalse('Accepted')) return 'Rejected';
  if (isTrue('Ready')) return 'Ready';
  return isTrue('Programmed') && isTrue('PartiallyTranslated') ? 'Degraded' : 'Pending';
}

/** What is wrong with it, or to be warned of. */
export function problemsOf(object: KubeObject): readonly string[] {
  return conditionsOf(object)
    .filter(
      ({ type, status, reason }) =>
        (status === 'False' && type === 'Accepted') ||
        (status === 'False' && type === 'Programmed' && reason !== 'Rejected' && reason !== 'Pending') ||
        (status === 'True' && ['Stalled', 'PartiallyTranslated', 'Warning'].includes(type)),
    )
    .map(({ message }) => message);
}

/** Whether a controller has ever said something of it. */
export function isSeen(object: KubeObject): boolean {
  return Object.keys(statusOf(object)).length > 0;
}
