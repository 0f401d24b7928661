// Shows objects of one kind as a table or for programs, once or as they change. The `list` commands differ in columns.
import type { Client, Selection } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import { painter } from './colour.ts';
import { interruptible } from './exit.ts';
import { followUntil } from './follow.ts';
import { listNamed, unknownKind } from './named.ts';
import type { Noun } from './named.ts';
import { connected } from './options.ts';
import type { ClusterOptions, OutputFormat } from './options.ts';
import { nameText, objectsText } from './output.ts';
import { age, TablePrinter } from './table.ts';
import type { Column } from './table.ts';

export interface ListOptions extends ClusterOptions {
  readonly allNamespaces?: boolean;
  readonly selector?: string;
  readonly output: OutputFormat;
  readonly watch?: boolean;
}

/** What the table shows between the name and the age, and with `-o wide` after it. */
export interface Columns<T> {
  readonly middle: readonly Column<T>[];
  readonly wide: readonly Column<T>[];
}

type Print<T> = (objects: readonly T[], streaming?: boolean) => void;

/** Prints the objects of a namespace, or of all. */
export function listObjects<T extends KubeObject>(
  noun: Noun<T>,
  columns: Columns<T>,
  options: ListOptions,
): Promise<void> {
  return connected(options, async ({ client, namespace }) => {
    const isEverywhere = !noun.kind.namespaced || options.allNamespaces === true;
    const selection: Selection = {
      ...(!isEverywhere && { namespace }),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
    };
    const print = printerOf(noun, columns, options);
    if (options.watch) return watchObjects(client, noun, selection, print);
    const objects = await listNamed(client, noun, selection);
    if (objects.length > 0 || options.output === 'json' || options.output === 'yaml') return print(objects);
    console.error(`No ${noun.many} found${isEverywhere ? '' : ` in namespace ${namespace}`}.`);
  });
}

/** Never ends by itself: Ctrl-C does that. */
function watchObjects<T extends KubeObject>(
  client: Client,
  { kind }: Noun<T>,
  selection: Selection,
  print: Print<T>,
): Promise<void> {
  return interruptible((signal) =>
    followUntil<T, never>(client, kind, selection, signal, (table, change) => {
      if (!table.served) throw unknownKind(kind);
      if (change === undefined) print(table.list(), true);
      else print([change.new ?? change.old!], true);
      return undefined;
    }),
  );
}

function printerOf<T extends KubeObject>(
  { kind }: Noun<T>,
  { middle, wide }: Columns<T>,
  { output, allNamespaces }: ListOptions,
): Print<T> {
  if (output === 'json' || output === 'yaml') {
    return (objects, streaming) => {
      if (!streaming) process.stdout.write(objectsText(output, objects, true));
      for (const each of streaming ? objects : []) {
        process.stdout.write(`${output === 'yaml' ? '---\n' : ''}${objectsText(output, [each], false)}`);
      }
    };
  }
  if (output === 'name') return (objects) => objects.forEach((each) => console.log(nameText(each)));
  const columns: readonly Column<T>[] = [
    ...(kind.namespaced && allNamespaces
      ? [{ heading: 'NAMESPACE', cell: ({ metadata }: T) => metadata.namespace ?? '' }]
      : []),
    { heading: 'NAME', cell: ({ metadata }) => metadata.name },
    ...middle,
    { heading: 'AGE', cell: ({ metadata }) => age(metadata.creationTimestamp, Date.now()) },
    ...(output === 'wide' ? wide : []),
  ];
  const table = new TablePrinter(columns, painter(process.stdout));
  return (objects) => table.lines(objects).forEach((line) => console.log(line));
}
