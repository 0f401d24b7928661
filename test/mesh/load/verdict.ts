// What may have become of requests: flows are called `<key or plain> <workload>`, and images `<workload>:<version>`, of
// which the base has 1, an environment 2 and, once it was updated, 3.
import type { Counts, Report } from './sender.ts';

/** A line for all requests that have failed, or have reached what they must not, in the same way; none is what is wanted. */
export function lost(report: Report): readonly string[] {
  return [
    ...linesOf(report.failures, (flow, phase, failure) => `${flow} failed during ${phase}: ${failure}`),
    ...linesOf(report.images, strayed),
  ];
}

/** How many requests were answered in the flow and phase that had the fewest. */
export function fewestInPhase({ images }: Report): number {
  const phases = Object.values(images).flatMap((each) => Object.values(each));
  return Math.min(...phases.map((counts) => Object.values(counts).reduce((sum, count) => sum + count, 0)));
}

/** Without the key none but the base may answer, and with it none but the environment from when it is ready. */
function strayed(flow: string, phase: string, image: string): string | undefined {
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
