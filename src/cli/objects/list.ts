// Lists objects of one kind as a table or as data, once or with -w as they change. The `list` commands differ in
// columns.
import type { Client, Selection } from '../../kube/client/client.ts';
import type { Update } from '../../watchable/index.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { painter } from '../terminal/colour.ts';
import { failure, interruptible } from '../exit.ts';
import { followUntil } from './follow.ts';
import { getByName, listOfKind, unknownKind } from './find.ts';
import type { Noun } from './find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions } from '../options.ts';
import { linesOn } from '../terminal/lines.ts';
import { dataText, isData, nameText, objectData, printResult, watchedData } from '../terminal/output.ts';
import type { DataFormat, OutputFormat } from '../terminal/output.ts';
import { age, TablePrinter } from '../terminal/table.ts';
import type { Column } from '../terminal/table.ts';

export interface ListOptions extends ClusterOptions {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output: OutputFormat;
  readonly headers: boolean;
  readonly watch?: boolean;
  readonly outputWatchEvents?: boolean;
}

/** The columns between name and age, and those after it with `-o wide`. */
export interface Columns<T> {
  readonly middle: readonly Column<T>[];
  readonly wide: readonly Column<T>[];
}

/** The type of a watch event; absent for a list. */
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Row<T> {
  readonly object: T;
  readonly type?: EventType;
}

/** Rows as whole lines. */
type Render<T> = (rows: readonly Row<T>[]) => string;

/** Prints the named objects, or all of a namespace or of the cluster. */
export function listObjects<T extends KubeObject>(
  noun: Noun<T>,
  columns: Columns<T>,
  names: readonly string[],
  options: ListOptions,
): Promise<void> {
  const isEverywhere = !noun.kind.namespaced || options.allNamespaces === true;
  refuseContradictions(names, options);
  return withConnection(options, async ({ client, namespace }) => {
    const selection: Selection = {
      ...(!isEverywhere && { namespace }),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
      ...(names.length > 0 && { fieldSelector: `metadata.name=${names[0]}` }),
    };
    const { output } = options;
    if (options.watch) {
      const render = isData(output) ? dataRenderer<T>(output, options) : rowRenderer(noun, columns, options);
      return watchObjects(client, noun, selection, render);
    }
    const objects =
      names.length === 0
        ? await listOfKind(client, noun, selection)
        : await Promise.all([...new Set(names)].map((name) => getByName(client, noun, { name, namespace })));
    if (objects.length === 0 && !isData(output)) {
      return console.error(`No ${noun.many} found${isEverywhere ? '' : ` in namespace ${namespace}`}.`);
    }
    const rows = objects.map((object) => ({ object }));
    printResult(output, {
      data: objectData(objects, names.length !== 1),
      names: objects.map(nameText),
      lines: () => tableOf(noun, columns, options).lines(rows),
    });
  });
}

function refuseContradictions(names: readonly string[], { allNamespaces, selector, watch }: ListOptions): void {
  if (names.length === 0) return;
  if (allNamespaces) throw failure('ConflictingFlags', 'NAME and -A: give one of them');
  if (selector !== undefined) throw failure('ConflictingFlags', 'NAME and -l: give one of them');
  if (watch && names.length > 1) throw failure('ConflictingFlags', 'NAME: with -w, give one of them');
}

/** Runs until Ctrl-C. */
function watchObjects<T extends KubeObject>(
  client: Client,
  { kind }: Noun<T>,
  selection: Selection,
  render: Render<T>,
): Promise<void> {
  const lines = linesOn(process.stdout);
  return interruptible((signal) =>
    followUntil<T, never>(client, kind, selection, signal, (table, updates) => {
      if (!table.served) throw unknownKind(kind);
      lines.print(render(updates?.map(rowOf) ?? table.list().map((object) => ({ object, type: 'ADDED' }))));
      return undefined;
    }),
  ).finally(() => lines.end());
}

function rowOf<T>({ delete: isGone, value, before }: Update<string, T>): Row<T> {
  return { object: value, type: isGone ? 'DELETED' : before === undefined ? 'ADDED' : 'MODIFIED' };
}

/** Renders objects as data, one after the other. */
function dataRenderer<T extends KubeObject>(format: DataFormat, { outputWatchEvents }: ListOptions): Render<T> {
  const separator = format === 'yaml' ? '---\n' : '';
  const render = ({ object, type }: Row<T>): string =>
    `${separator}${dataText(format, watchedData(object, outputWatchEvents ? type : undefined))}`.replace(/\n?$/, '\n');
  return (rows) => rows.map(render).join('');
}

function rowRenderer<T extends KubeObject>(noun: Noun<T>, columns: Columns<T>, options: ListOptions): Render<T> {
  const asLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  if (options.output === 'name') {
    return (rows) =>
      asLines(rows.map(({ object, type }) => `${nameText(object)}${type === 'DELETED' ? ' deleted' : ''}`));
  }
  const table = tableOf(noun, columns, options);
  return (rows) => asLines(table.lines(rows));
}

function tableOf<T extends KubeObject>(
  { kind }: Noun<T>,
  { middle, wide }: Columns<T>,
  { output, allNamespaces, outputWatchEvents, headers }: ListOptions,
): TablePrinter<Row<T>> {
  const columns: readonly Column<T>[] = [
    ...(kind.namespaced && allNamespaces
      ? [{ heading: 'NAMESPACE', cell: ({ metadata }: T) => metadata.namespace ?? '' }]
      : []),
    { heading: 'NAME', cell: ({ metadata }) => metadata.name },
    ...middle,
    { heading: 'AGE', cell: ({ metadata }) => age(metadata.creationTimestamp, Date.now()) },
    ...(output === 'wide' ? wide : []),
  ];
  // Without a state column, the age of a deleted object is replaced.
  const marked = columns.find(({ state }) => state) ?? columns.find(({ heading }) => heading === 'AGE');
  const ofRows = columns.map((column): Column<Row<T>> => ({
    ...column,
    cell: ({ object, type }) => {
      const text = column.cell(object);
      return type === 'DELETED' && column === marked ? deletedLike(text) : text;
    },
  }));
  const event: Column<Row<T>> = { heading: 'EVENT', cell: ({ type }) => type ?? '' };
  return new TablePrinter(outputWatchEvents ? [event, ...ofRows] : ofRows, {
    paint: painter(process.stdout),
    headings: headers,
  });
}

/** Some kinds capitalise their states. */
function deletedLike(word: string): string {
  return /^[A-Z]/.test(word) ? 'Deleted' : 'deleted';
}
