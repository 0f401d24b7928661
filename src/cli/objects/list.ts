// Shows objects of one kind as a table or for programs, once or as they change. The `list` commands differ in columns.
import type { Client, Selection } from '../../kube/client/client.ts';
import type { Update } from '../../watchable/index.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { painter } from '../terminal/colour.ts';
import { interruptible } from '../exit.ts';
import { followUntil } from './follow.ts';
import { listOfKind, unknownKind } from './find.ts';
import type { Noun } from './find.ts';
import { withConnection } from '../options.ts';
import type { ClusterOptions, OutputFormat } from '../options.ts';
import { linesOn } from '../terminal/lines.ts';
import { nameText, objectsText, objectText } from '../terminal/output.ts';
import { age, TablePrinter } from '../terminal/table.ts';
import type { Column } from '../terminal/table.ts';

export interface ListOptions extends ClusterOptions {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output: OutputFormat;
  readonly watch?: boolean;
  readonly outputWatchEvents?: boolean;
}

/** What the table shows between the name and the age, and with `-o wide` after it. */
export interface Columns<T> {
  readonly middle: readonly Column<T>[];
  readonly wide: readonly Column<T>[];
}

/** What a watch says of an object; nothing where it is only listed. */
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

interface Row<T> {
  readonly object: T;
  readonly type?: EventType;
}

/** Rows as whole lines. */
type Render<T> = (rows: readonly Row<T>[]) => string;

/** Prints the objects of a namespace, or of all. */
export function listObjects<T extends KubeObject>(
  noun: Noun<T>,
  columns: Columns<T>,
  options: ListOptions,
): Promise<void> {
  return withConnection(options, async ({ client, namespace }) => {
    const isEverywhere = !noun.kind.namespaced || options.allNamespaces === true;
    const selection: Selection = {
      ...(!isEverywhere && { namespace }),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
    };
    const { output } = options;
    const isData = output === 'json' || output === 'yaml';
    if (options.watch) {
      const render = isData ? dataRenderer<T>(output, options) : rowRenderer(noun, columns, options);
      return watchObjects(client, noun, selection, render);
    }
    const objects = await listOfKind(client, noun, selection);
    const rows = objects.map((object) => ({ object }));
    if (isData) process.stdout.write(objectsText(output, objects, true));
    else if (rows.length > 0) process.stdout.write(rowRenderer(noun, columns, options)(rows));
    else console.error(`No ${noun.many} found${isEverywhere ? '' : ` in namespace ${namespace}`}.`);
  });
}

/** Never ends by itself: Ctrl-C does that. */
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

/** Objects for programs, as they come. */
function dataRenderer<T extends KubeObject>(format: 'json' | 'yaml', { outputWatchEvents }: ListOptions): Render<T> {
  const separator = format === 'yaml' ? '---\n' : '';
  const render = ({ object, type }: Row<T>): string =>
    `${separator}${objectText(format, object, outputWatchEvents ? type : undefined)}`;
  return (rows) => rows.map(render).join('');
}

function rowRenderer<T extends KubeObject>(
  { kind }: Noun<T>,
  { middle, wide }: Columns<T>,
  { output, allNamespaces, outputWatchEvents }: ListOptions,
): Render<T> {
  if (output === 'name') {
    return (rows) =>
      rows.map(({ object, type }) => `${nameText(object)}${type === 'DELETED' ? ' deleted' : ''}\n`).join('');
  }
  const columns: readonly Column<T>[] = [
    ...(kind.namespaced && allNamespaces
      ? [{ heading: 'NAMESPACE', cell: ({ metadata }: T) => metadata.namespace ?? '' }]
      : []),
    { heading: 'NAME', cell: ({ metadata }) => metadata.name },
    ...middle,
    { heading: 'AGE', cell: ({ metadata }) => age(metadata.creationTimestamp, Date.now()) },
    ...(output === 'wide' ? wide : []),
  ];
  // Where no column says how an object is, its age no longer matters.
  const marked = columns.find(({ state }) => state) ?? columns.find(({ heading }) => heading === 'AGE');
  const ofRows = columns.map((column): Column<Row<T>> => ({
    ...column,
    cell: ({ object, type }) => {
      const text = column.cell(object);
      return type === 'DELETED' && column === marked ? deletedLike(text) : text;
    },
  }));
  const event: Column<Row<T>> = { heading: 'EVENT', cell: ({ type }) => type ?? '' };
  const table = new TablePrinter(outputWatchEvents ? [event, ...ofRows] : ofRows, painter(process.stdout));
  return (rows) =>
    table
      .lines(rows)
      .map((line) => `${line}\n`)
      .join('');
}

/** Some kinds write the words of their states with capitals. */
function deletedLike(word: string): string {
  return /^[A-Z]/.test(word) ? 'Deleted' : 'deleted';
}
