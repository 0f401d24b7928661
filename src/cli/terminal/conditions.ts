// Formats the conditions of an object, for `describe -o wide`.
import type { KubeObject } from '../../kube/objects.ts';
import type { Paint } from './colour.ts';
import { age, TablePrinter } from './table.ts';

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The conditions of an object after an empty line and a heading. */
export function conditionLines(object: KubeObject, paint: Paint, now: number): string[] {
  const { status } = object as KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
  const conditions = status?.conditions ?? [];
  if (conditions.length === 0) return [];
  const table = new TablePrinter<Condition>([
    { heading: 'CONDITION', cell: ({ type = '' }) => type },
    { heading: 'STATUS', cell: (each) => each.status ?? '' },
    { heading: 'AGE', cell: ({ lastTransitionTime }) => age(lastTransitionTime, now) },
    { heading: 'REASON', cell: ({ reason = '' }) => reason },
    { heading: 'MESSAGE', cell: ({ message = '' }) => message },
  ]);
  const [heading = '', ...rows] = table.lines(conditions);
  return ['', paint('quiet', heading), ...rows];
}
