// `offshoot status`: prints the report.
import { CommandFailed, EXIT } from '../exit.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { printResult } from '../terminal/output.ts';
import type { DataFormat } from '../terminal/output.ts';
import { age, TablePrinter } from '../terminal/table.ts';
import { version } from '../version/version.ts';
import { SUBJECTS } from './objects.ts';
import { observe } from './read.ts';
import { reportOf } from './report.ts';
import type { PartReport, StatusReport } from './report.ts';

export interface StatusOptions extends ClusterOptions {
  readonly output?: DataFormat;
}

/** Prints it; exit code 1 if something is not well. */
export async function status(options: StatusOptions): Promise<void> {
  const report = await withConnection(options, async ({ client }) => {
    const observed = await observe(
      client,
      SUBJECTS.map(({ kind }) => kind),
      options.namespace,
    );
    return reportOf({ observed, parts: partsOf(), subjects: SUBJECTS, version: version(), now: Date.now() });
  });
  printResult(options.output, { data: report, lines: () => statusLines(report, painter(process.stdout), Date.now()) });
  if (report.problems.length > 0) throw new CommandFailed(EXIT.error);
}

export function statusLines(report: StatusReport, paint: Paint, now: number): string[] {
  const table = new TablePrinter<PartReport>(
    [
      { heading: 'PART', cell: ({ name }) => name },
      { heading: 'STATE', cell: ({ state }) => state, state: true },
      { heading: 'LEADER', cell: ({ leader = '' }) => leader },
      { heading: 'SINCE', cell: ({ since }) => (since === undefined ? '' : age(since, now)) },
      { heading: 'OBJECTS', cell: objectsText },
    ],
    { paint },
  );
  return [
    ...headLines(report),
    '',
    ...table.lines(report.parts),
    '',
    ...problemLines(report, paint),
    ...(report.unread.length > 0 ? ['', 'Could not be read:', ...report.unread.map((each) => `  ${each}`)] : []),
  ];
}

function headLines({ version: { program, installed }, installations }: StatusReport): string[] {
  const lines = installations.map(({ namespace, managedBy, version: each, ready, replicas }) => {
    return `Offshoot ${each} in namespace ${namespace}, managed by ${managedBy}: ${ready} of ${replicas} replicas ready`;
  });
  const differs = installed !== undefined && installed !== program ? `; this program is ${program}` : '';
  return lines.length === 0
    ? [`Offshoot ${program}; no Deployment of it is in this cluster`]
    : lines.map((line) => `${line}${differs}`);
}

function objectsText({ objects }: PartReport): string {
  return objects
    .map(({ count, noun, states }) => {
      const told = Object.entries(states).map(([state, number]) => `${number} ${state}`);
      return `${count} ${noun} (${told.join(', ')})`;
    })
    .join(', ');
}

function problemLines({ problems, unread }: StatusReport, paint: Paint): string[] {
  if (problems.length === 0)
    return [unread.length > 0 ? 'Nothing that could be read is amiss.' : paint('good', 'All is well.')];
  return problems.flatMap(({ severity, about, message, advice }) => [
    `${paint(severity === 'error' ? 'bad' : 'busy', severity)}: ${about}: ${message}`,
    `    ${advice}`,
  ]);
}
