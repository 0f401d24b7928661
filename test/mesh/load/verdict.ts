// Which answers to requests are allowed. Flows are called `<key or plain> <workload>`, images `<workload>:<version>`:
// version 1 is the base, 2 an environment, and 3 the environment after its update.
import type { Counts, Report } from './sender.ts';

/** A line for each way in which requests failed or were misrouted, with their number. */
export function lostRequests(report: Report): readonly string[] {
  return [
    ...linesOf(report.failures, (flow, phase, failure) => `${flow} failed during ${phase}: ${failure}`),
    ...linesOf(report.images, misrouted),
  ];
}

/** The smallest number of answered requests in a flow and phase. */
export function fewestInPhase({ images }: Report): number {
  const phases = Object.values(images).flatMap((each) => Object.values(each));
  return Math.min(...phases.map((counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)));
}

/** Without the key only the base may answer; with it only the environment, from when it is ready. */
function misrouted(flow: string, phase: string, image: string): string | undefined {
  const [key, base] = flow.split(' ') as [string, string];
  const allowed: Readonly<Record<string, readonly number[]>> =
    key === 'plain' ? { create: [1], update: [1], delete: [1] } : { create: [1, 2], update: [2, 3], delete: [3, 1] };
  const isAllowed = (allowed[phase] ?? []).some((version) => image === `${base}:${version}`);
  return isAllowed ? undefined : `${flow} reached ${image} during ${phase}`;
}

function linesOf(
  counts: Counts,
  lineOf: (flow: string, phase: string, what: string) => string | undefined,
): readonly string[] {
  return Object.entries(counts).flatMap(([flow, phases]) =>
    Object.entries(phases).flatMap(([phase, ends]) =>
      Object.entries(ends).flatMap(([what, count]) => {
        const line = lineOf(flow, phase, what);
        return line === undefined ? [] : [`${count} × ${line}`];
      }),
    ),
  );
}
