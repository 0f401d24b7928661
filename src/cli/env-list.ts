// `offshoot env list`: environments and how they are, once or as they change.
import { DynamicEnv } from '../api/dynamicenv.ts';
import { itemsOf } from '../environments/names.ts';
import type { Client, Selection } from '../kube/client.ts';
import { keyOf } from '../kube/objects.ts';
import { painter } from './colour.ts';
import { formatMatches } from './env-match.ts';
import { listEvery, unknownKind } from './env-get.ts';
import { stateOf } from './env-state.ts';
import { interruptible } from './exit.ts';
import { followUntil } from './follow.ts';
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

/** Prints the environments of a namespace, or of all. */
export function listEnvironments(options: ListOptions): Promise<void> {
  return connected(options, async ({ client, namespace }) => {
    const selection: Selection = {
      ...(!options.allNamespaces && { namespace }),
      ...(options.selector !== undefined && { labelSelector: options.selector }),
    };
    const print = printerOf(options);
    if (options.watch) return watchEnvironments(client, selection, print);
    const environments = await listEvery(client, selection);
    if (environments.length > 0 || options.output === 'json' || options.output === 'yaml') return print(environments);
    console.error(`No environments found${options.allNamespaces ? '' : ` in namespace ${namespace}`}.`);
  });
}

type Print = (environments: readonly DynamicEnv[], streaming?: boolean) => void;

/** Never ends by itself: Ctrl-C does that. */
function watchEnvironments(client: Client, selection: Selection, print: Print): Promise<void> {
  return interruptible((signal) =>
    followUntil<DynamicEnv, never>(client, DynamicEnv, selection, signal, (table, change) => {
      if (!table.served) throw unknownKind();
      if (change === undefined) print(table.list(), true);
      else print([change.new ?? change.old!], true);
      return undefined;
    }),
  );
}

function printerOf({ output, allNamespaces }: ListOptions): Print {
  if (output === 'json' || output === 'yaml') {
    return (environments, streaming) => {
      if (!streaming) process.stdout.write(objectsText(output, environments, true));
      for (const each of streaming ? environments : []) {
        process.stdout.write(`${output === 'yaml' ? '---\n' : ''}${objectsText(output, [each], false)}`);
      }
    };
  }
  if (output === 'name') return (environments) => environments.forEach((each) => console.log(nameText(each)));
  const columns = columnsOf({ wide: output === 'wide', namespace: allNamespaces ?? false, now: () => Date.now() });
  const table = new TablePrinter(columns, painter(process.stdout));
  return (environments) => table.lines(environments).forEach((line) => console.log(line));
}

/** The columns of the table. */
function columnsOf(options: {
  readonly wide: boolean;
  readonly namespace: boolean;
  readonly now: () => number;
}): readonly Column<DynamicEnv>[] {
  const deployments = (of: 'subsets' | 'consumers') => (env: DynamicEnv) => itemsOf(env)[of].map(keyOf).join(',');
  return [
    ...(options.namespace ? [{ heading: 'NAMESPACE', cell: (env: DynamicEnv) => env.metadata.namespace ?? '' }] : []),
    { heading: 'NAME', cell: (env) => env.metadata.name },
    { heading: 'STATUS', cell: stateOf, state: true },
    { heading: 'READY', cell: readyCount },
    { heading: 'MATCH', cell: (env) => formatMatches(env.spec?.istioMatches ?? []) },
    { heading: 'AGE', cell: (env) => age(env.metadata.creationTimestamp, options.now()) },
    ...(options.wide
      ? [
          { heading: 'SUBSETS', cell: deployments('subsets') },
          { heading: 'CONSUMERS', cell: deployments('consumers') },
        ]
      : []),
  ];
}

function readyCount(env: DynamicEnv): string {
  const { subsets, consumers } = itemsOf(env);
  return `${env.status?.totalReady ?? 0}/${subsets.length + consumers.length}`;
}
