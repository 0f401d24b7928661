// Prints what would happen, and ends as commands that plan do: 0 nothing, 2 changes, 1 if something would get no further.
import type { ForecastReport, ReportedChange } from '../../controller/index.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { changeLines, countLine, stallLines } from './changes.ts';
import { painter } from './colour.ts';
import type { Paint } from './colour.ts';
import { printResult } from './output.ts';
import type { DataFormat } from './output.ts';

export interface PlanPrinting<P> {
  readonly output: DataFormat | undefined;
  /** Whether something would get no further. */
  readonly isStalled: boolean;
  /** Of the changes, those to show; all of them unless given. */
  readonly shown?: readonly ReportedChange[];
  /** How things would be in the end. */
  readonly outcome: (plan: P, paint: Paint) => readonly string[];
}

export function printPlan<P extends ForecastReport>(
  plan: P,
  { output, isStalled, shown = plan.changes, outcome }: PlanPrinting<P>,
): void {
  const paint = painter(process.stdout);
  printResult(output, {
    data: plan,
    lines: () => [...planLines(plan, shown, isStalled, paint), ...outcome(plan, paint)],
  });
  if (isStalled) throw new CommandFailed(EXIT.error);
  if (plan.changes.length > 0) throw new CommandFailed(EXIT.changes);
}

function planLines(
  { changes, stalled }: ForecastReport,
  shown: readonly ReportedChange[],
  isStalled: boolean,
  paint: Paint,
): string[] {
  const told = stallLines(stalled, paint);
  if (shown.length > 0) return [...changeLines(shown, paint), '', countLine(shown), ...told];
  if (changes.length > 0) return told;
  // What is stuck is not done.
  return isStalled ? told : ['Nothing to do.', ...told];
}
