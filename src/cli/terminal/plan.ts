// Prints a plan and sets the exit code: 0 without changes, 2 with changes, 1 if something would make no progress.
import type { ForecastReport, ReportedChange } from '../../controller/index.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { changeLines, countLine, stallLines } from './changes.ts';
import { painter } from './colour.ts';
import type { Paint } from './colour.ts';
import { printResult } from './output.ts';
import type { DataFormat } from './output.ts';

export interface PlanOutput<P> {
  readonly output: DataFormat | undefined;
  /** Whether something would make no progress. */
  readonly isStalled: boolean;
  /** The changes to show; all by default. */
  readonly shown?: readonly ReportedChange[];
  /** The final state, as lines. */
  readonly outcome: (plan: P, paint: Paint) => readonly string[];
}

export function printPlan<P extends ForecastReport>(
  plan: P,
  { output, isStalled, shown = plan.changes, outcome }: PlanOutput<P>,
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
  const stalls = stallLines(stalled, paint);
  if (shown.length > 0) return [...changeLines(shown, paint), '', countLine(shown), ...stalls];
  if (changes.length > 0) return stalls;
  // A stalled plan is not "nothing to do".
  return isStalled ? stalls : ['Nothing to do.', ...stalls];
}

/** The end of a sentence about an object that expires, at a known time or `later`; empty for one that does not. */
export function expiryText(
  { expiresAt, expiresAfter }: { readonly expiresAt?: string; readonly expiresAfter?: string },
  later: string,
): string {
  if (expiresAt !== undefined) return `, and expire at ${expiresAt}`;
  return expiresAfter === undefined ? '' : `, and expire ${later}`;
}
