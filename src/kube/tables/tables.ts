// All tables of a process, shared by everybody who reads them. A table is made, and kept current by a reflector of its
// own, from the moment on that somebody reads it.
import type { Client } from '../client/client.ts';
import type { Reachability } from '../client/reachability.ts';
import type { Clock } from '../clock.ts';
import { apiVersionOf, defineKind } from '../objects.ts';
import type { AnyKind, Kind, KubeObject } from '../objects.ts';
import { runReflector } from './reflector.ts';
import { Table } from './table.ts';
import type { TableOptions } from './table.ts';

export type AnyTable = Table<KubeObject>;

/** A kind, and how it is kept: which objects, what of them, and what finds them. Stands wherever a kind does. */
export interface TableKind<T extends KubeObject = KubeObject> extends Kind<T> {
  readonly table: TableOptions<T>;
}

/** Says how a kind is kept: `defineTable(Deployment, { indexes: { owner: byOwner } })`. */
export function defineTable<T extends KubeObject>(kind: Kind<T>, options: TableOptions<T>): TableKind<T> {
  return Object.freeze({ ...kind, table: options });
}

/** A table was read of which nobody knows yet what belongs into it. */
export class NotSynced extends Error {
  override readonly name = 'NotSynced';
  readonly table: AnyTable;

  constructor(table: AnyTable) {
    super(`the ${table.kind.plural} of the cluster have not been listed yet`);
    this.table = table;
  }
}

export interface RunOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onError?: (table: AnyTable, error: unknown) => void;
  /** Tells when a server that did not answer does again. */
  readonly reachability?: Reachability;
}

/** Definitions of kinds: whatever is said of them does not matter, only that they come. */
const CustomResourceDefinition = defineTable(
  defineKind<KubeObject>('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
  }),
  { metadataOnly: true, optional: true },
);

export class Tables {
  /** By kind and everything else that makes a difference to what is in a table. */
  readonly #tables = new Map<string, AnyTable>();
  readonly #byKind = new WeakMap<AnyKind, AnyTable>();
  readonly #transforms = new Map<unknown, number>();
  readonly #reflectors = new Set<Promise<void>>();
  readonly #namespaces: readonly string[] | undefined;
  #running: RunOptions | undefined;

  /**
   * With tables for these kinds to begin with; others come when they are read. With namespaces, nothing is asked for
   * that is in another one: a table of another one is empty.
   */
  constructor(kinds: Iterable<AnyKind> = [], namespaces?: readonly string[]) {
    this.#namespaces = namespaces;
    for (const kind of kinds) this.of(kind);
  }

  /** The table of a kind: one for all who want the same objects in the same form, with the indexes of all of them. */
  of<T extends KubeObject>(kind: Kind<T>): Table<T> {
    const table = this.#byKind.get(kind) ?? this.#make(kind);
    return table as unknown as Table<T>;
  }

  /** The tables that there are of a kind, in whatever form; if there is none yet, that of all its objects. */
  holding<T extends KubeObject>(kind: Kind<T>): readonly Table<T>[] {
    const tables = [...this].filter(({ kind: { group, plural } }) => group === kind.group && plural === kind.plural);
    return tables.length > 0 ? (tables as unknown as Table<T>[]) : [this.of(kind)];
  }

  /** Whether a table is going to be listed, and has not been yet: that something is not in it means nothing. */
  awaits(table: AnyTable): boolean {
    return this.#running !== undefined && !table.synced;
  }

  [Symbol.iterator](): Iterator<AnyTable> {
    return this.#tables.values();
  }

  /** Runs a reflector for each table until the signal; resolves when all of them have ended. */
  async run(options: RunOptions): Promise<void> {
    this.#running = options;
    for (const table of this) this.#start(table, options);
    const { signal } = options;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(this.#reflectors);
  }

  /** Resolves when every table that there is by now has been listed once. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this].map((table) => table.whenSynced(signal)));
  }

  #make<T extends KubeObject>(kind: Kind<T>): AnyTable {
    const { table: options = {} } = kind as Partial<TableKind<T>>;
    const id = this.#idOf(kind, options);
    let table = this.#tables.get(id);
    if (table === undefined) {
      const limited = { ...options, ...(this.#namespaces && { namespaces: this.#namespaces }) };
      table = new Table(kind, limited) as unknown as AnyTable;
      this.#tables.set(id, table);
      if (this.#running !== undefined) this.#start(table, this.#running);
    } else {
      table.addIndexes((options as TableOptions<KubeObject>).indexes);
    }
    this.#byKind.set(kind, table);
    return table;
  }

  #idOf<T extends KubeObject>(kind: Kind<T>, options: TableOptions<T>): string {
    const { namespace, labelSelector, fieldSelector, transform, optional = false, metadataOnly = false } = options;
    if (!this.#transforms.has(transform)) this.#transforms.set(transform, this.#transforms.size);
    const scope = [namespace, labelSelector, fieldSelector, this.#transforms.get(transform), optional, metadataOnly];
    return JSON.stringify([apiVersionOf(kind), kind.plural, ...scope]);
  }

  #start(table: AnyTable, { client, clock, signal, onError, reachability }: RunOptions): void {
    if (signal.aborted) return;
    const { namespace: only } = table.selection;
    if (only !== undefined && this.#namespaces?.includes(only) === false) return table.notServed();
    for (const namespace of table.scopes) {
      const reflector = runReflector({
        client: client.flow('reflectors'),
        table,
        ...(namespace !== undefined && { namespace }),
        clock,
        signal,
        onError: (error) => onError?.(table, error),
        // Definitions are in no namespace: who may see some namespaces alone asks again from time to time.
        ...(!this.#namespaces && { untilInstalled: (waiting: AbortSignal) => this.#untilInstalled(table, waiting) }),
        ...(reachability && { untilReturn: (waiting: AbortSignal) => reachability.untilReturn(waiting) }),
      }).finally(() => this.#reflectors.delete(reflector));
      this.#reflectors.add(reflector);
    }
  }

  /** Resolves when the definition of a kind that is not served comes or changes. */
  async #untilInstalled({ kind }: AnyTable, signal: AbortSignal): Promise<void> {
    const definition = `${kind.plural}.${kind.group}`;
    const include = (name: string): boolean => name === definition;
    for await (const { updates } of this.of(CustomResourceDefinition).map.subscribe({ signal, include })) {
      if (updates.some((update) => !update.delete)) return;
    }
  }
}
