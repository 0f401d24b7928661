// `offshoot status`: prints the report.
import type { Client } from '../../kube/client/client.ts';
import { delay, systemClock } from '../../kube/clock.ts';
import { CommandFailed, EXIT, interruptible } from '../exit.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { partsOf } from '../run/parts.ts';
import { painter } from '../terminal/colour.ts';
import type { Paint } from '../terminal/colour.ts';
import { printResult, resultLines } from '../terminal/output.ts';
import type { DataFormat, Result } from '../terminal/output.ts';
import { redrawOn } from '../terminal/redraw.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { age, TablePrinter } from '../terminal/table.ts';
import { version } from '../version/version.ts';
import { SUBJECTS } from './objects.ts';
import { observe } from './read.ts';
import { reportOf } from './report.ts';
import type { PartReport, StatusReport } from './report.ts';

export interface StatusOptions extends ClusterOptions {
  readonly output?: DataFormat;
  readonly watch?: boolean;
}

/** Leases are renewed at this interval, so a watch would cost the API server no less. */
const INTERVAL_MS = 2_000;

/** Prints the report, once or with -w repeatedly; exit code 1 if something is unhealthy. */
export async function status({ output, watch, ...options }: StatusOptions): Promise<void> {
  await withConnection(options, async ({ client }) => {
    if (watch) return showReports(client, options.namespace, output);
    const report = await readReport(client, options.namespace);
    printResult(output, resultOf(report));
    if (report.problems.length > 0) throw new CommandFailed(EXIT.error);
  });
}

async function readReport(client: Client, namespace: string | undefined): Promise<StatusReport> {
  const kinds = SUBJECTS.map(({ kind }) => kind);
  const observed = await observe(client, kinds, namespace);
  return reportOf({ observed, parts: partsOf(), subjects: SUBJECTS, version: version(), now: Date.now() });
}

function resultOf(report: StatusReport): Result {
  return { data: report, lines: () => statusLines(report, painter(process.stdout), Date.now()) };
}

/** Shows the report whenever it changes, until it is interrupted. */
function showReports(client: Client, namespace: string | undefined, output: DataFormat | undefined): Promise<void> {
  const redrawn = redrawOn(process.stdout);
  return interruptible(async (signal) => {
    for (let shown: StatusReport | undefined; ; await delay(systemClock, INTERVAL_MS, signal)) {
      signal.throwIfAborted();
      const report = await readReport(client, namespace);
      if (jsonEqual(report, shown)) continue;
      redrawn.show(() => resultLines(output, resultOf(report)));
      shown = report;
    }
  }).finally(() => redrawn.end());
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

function headLines({ version: { program, installed }, installations, parts }: StatusReport): string[] {
  const lines = installations.map(({ namespace, managedBy, version: each, ready, replicas }) => {
    return `Offshoot ${each} in namespace ${namespace}, managed by ${managedBy}: ${ready} of ${replicas} replicas ready`;
  });
  const differs = installed !== undefined && installed !== program ? `; this program is ${program}` : '';
  if (lines.length > 0) return lines.map((line) => `${line}${differs}`);
  const isLed = parts.some(({ leader }) => leader !== undefined);
  const how = isLed ? ': the leaders below were started otherwise, such as with "offshoot up"' : '';
  return [`Offshoot ${program}; no Deployment of it is in this cluster${how}`];
}

function objectsText({ objects }: PartReport): string {
  return objects
    .map(({ count, noun, states }) => {
      const counts = Object.entries(states).map(([state, number]) => `${number} ${state}`);
      return `${count} ${noun} (${counts.join(', ')})`;
    })
    .join(', ');
}

function problemLines({ problems, unread }: StatusReport, paint: Paint): string[] {
  if (problems.length === 0)
    return [unread.length > 0 ? 'Everything that could be read is healthy.' : paint('good', 'Everything is healthy.')];
  return problems.flatMap(({ severity, about, message, advice }) => [
    `${paint(severity === 'error' ? 'bad' : 'busy', severity)}: ${about}: ${message}`,
    `    ${advice}`,
  ]);
}
