// The state of a routing rule or a mesh in one word, and its problems.
import { conditionsOf, statusOf } from '../../controller/conditions.ts';
import type { KubeObject } from '../../kube/index.ts';

/** The values of `stateOf`. */
export const STATES = ['Ready', 'Degraded', 'Pending', 'Rejected', 'Failed', 'Deleting'] as const;

/** The state in one word. Without a status it is `Pending`, as in SuperGloo; `Degraded` means only partly in effect. */
export function stateOf(object: KubeObject): (typeof STATES)[number] {
  if (object.metadata.deletionTimestamp !== undefined) return 'Deleting';
  const conditions = conditionsOf(object);
  const isTrue = (expected: string): boolean =>
    conditions.some(({ type, status }) => type === expected && status === 'True');
  const isFalse = (expected: string): boolean =>
    conditions.some(({ type, status }) => type === expected && status === 'False');
  if (isTrue('Stalled')) return 'Failed';
  if (isFalse('Accepted')) return 'Rejected';
  if (isTrue('Ready')) return 'Ready';
  return isTrue('Programmed') && isTrue('PartiallyTranslated') ? 'Degraded' : 'Pending';
}

/** The messages of problems and warnings. */
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

/** Whether a controller has written a status. */
export function isSeen(object: KubeObject): boolean {
  return Object.keys(statusOf(object)).length > 0;
}
