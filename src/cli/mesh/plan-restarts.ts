// Formats the restarts of a plan: batch by batch, and what waits for a maintenance window or a manual restart.
import type { FieldChange, ReportedChange } from '../../controller/index.ts';
import { RESTARTED_AT, RESTARTED_FOR } from '../../mesh/index.ts';
import type { PlannedBatch, PlannedRestart, PlannedRestarts } from '../../mesh/index.ts';

/** A change without restart annotations, which are shown separately; none if no other field changes. */
export function withoutRestartAnnotations(change: ReportedChange): readonly ReportedChange[] {
  if (change.fields === undefined) return [change];
  const fields = change.fields.filter((field) => !isRestartAnnotation(field));
  return fields.length === 0 ? [] : [{ ...change, fields }];
}

function isRestartAnnotation({ path, after }: FieldChange): boolean {
  const isOne = (text: string): boolean => [RESTARTED_AT, RESTARTED_FOR].some((name) => text.includes(name));
  if (isOne(path)) return true;
  // The whole map is added if there were no annotations before.
  const names = typeof after === 'object' && after !== null ? Object.keys(after) : [];
  return path.endsWith('annotations') && names.length > 0 && names.every(isOne);
}

export function restartLines({ batches, waiting, manual }: PlannedRestarts): string[] {
  return [
    ...lotLines('gateways', batches),
    ...lotLines('sidecars', batches),
    ...waiting.map((each) => `Not restarted: ${nameOf(each)}: ${each.why}; ${each.waiting}`),
    ...manual.map(
      ({ namespace, name, why, problem }) => `To be restarted by hand: Pod ${namespace}/${name}: ${why}; ${problem}`,
    ),
  ];
}

const LOTS = { gateways: 'the control plane and gateways', sidecars: 'workloads with sidecars' } as const;

function lotLines(lot: PlannedBatch['lot'], all: readonly PlannedBatch[]): string[] {
  const batches = all.filter((batch) => batch.lot === lot);
  return batches.flatMap(({ workloads }, i) => [
    `Restart of ${LOTS[lot]}, batch ${i + 1} of ${batches.length}:`,
    ...workloads.map((each) => `    ${nameOf(each)}: ${each.why}`),
  ]);
}

function nameOf({ kind, namespace, name }: PlannedRestart): string {
  return `${kind} ${namespace}/${name}`;
}
