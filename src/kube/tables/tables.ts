// All tables of a process, shared by all readers. A table is created, and kept in sync by its own reflector, when it is
// first read.
import type { Client } from '../client/client.ts';
import type { Reachability } from '../client/reachability.ts';
import type { Clock } from '../clock.ts';
import { apiVersionOf, defineKind } from '../objects.ts';
import type { AnyKind, Kind, KubeObject } from '../objects.ts';
import { runReflector } from './reflector.ts';
import { Table } from './table.ts';
import type { TableOptions } from './table.ts';

export type AnyTable = Table<KubeObject>;

/** A kind, and how it is cached: which objects, which parts, which indexes. Can be used wherever a kind can. */
export interface TableKind<T extends KubeObject = KubeObject> extends Kind<T> {
  readonly table: TableOptions<T>;
}

/** Declares how a kind is cached: `defineTable(Deployment, { indexes: { owner: byOwner } })`. */
export function defineTable<T extends KubeObject>(kind: Kind<T>, options: TableOptions<T>): TableKind<T> {
  return Object.freeze({ ...kind, table: options });
}

/** A table was read before its first list was complete. */
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
  /** Reports when the server answers again after an outage. */
  readonly reachability?: Reachability;
}

/** Their content does not matter, only that they are created. */
const CustomResourceDefinition = defineTable(
  defineKind<KubeObject>('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
    namespaced: false,
  }),
  { metadataOnly: true, optional: true },
);

export class Tables {
  /** By kind and every option that affects the content of a table. */
  readonly #tables = new Map<string, AnyTable>();
  readonly #byKind = new WeakMap<AnyKind, AnyTable>();
  readonly #transforms = new Map<unknown, number>();
  readonly #reflectors = new Set<Promise<void>>();
  readonly #namespaces: readonly string[] | undefined;
  #running: RunOptions | undefined;

  /**
   * Starts with tables for these kinds; others are created when they are read. With namespaces, nothing in others is
   * requested: a table of another namespace is empty.
   */
  constructor(kinds: Iterable<AnyKind> = [], namespaces?: readonly string[]) {
    this.#namespaces = namespaces;
    for (const kind of kinds) this.of(kind);
  }

  /** The table of a kind, shared by all readers of the same objects in the same form, with the indexes of all. */
  of<T extends KubeObject>(kind: Kind<T>): Table<T> {
    const table = this.#byKind.get(kind) ?? this.#make(kind);
    return table as unknown as Table<T>;
  }

  /** All existing tables of a kind, in whatever form; if there is none yet, the table of all its objects. */
  holding<T extends KubeObject>(kind: Kind<T>): readonly Table<T>[] {
    const tables = [...this].filter(({ kind: { group, plural } }) => group === kind.group && plural === kind.plural);
    return tables.length > 0 ? (tables as unknown as Table<T>[]) : [this.of(kind)];
  }

  /** Whether the first list of a table is still to come: a missing object then means nothing. */
  awaits(table: AnyTable): boolean {
    return this.#running !== undefined && !table.synced;
  }

  [Symbol.iterator](): Iterator<AnyTable> {
    return this.#tables.values();
  }

  /** Runs a reflector for each table until the signal aborts; resolves when all of them have stopped. */
  async run(options: RunOptions): Promise<void> {
    this.#running = options;
    for (const table of this) this.#start(table, options);
    const { signal } = options;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await Promise.all(this.#reflectors);
  }

  /** Resolves when every table that exists now has been listed once. */
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
        // CRDs are cluster-scoped: a process that is limited to some namespaces retries from time to time instead.
        ...(!this.#namespaces && { untilInstalled: (waiting: AbortSignal) => this.#untilInstalled(table, waiting) }),
        ...(reachability && { untilReturn: (waiting: AbortSignal) => reachability.untilReturn(waiting) }),
      }).finally(() => this.#reflectors.delete(reflector));
      this.#reflectors.add(reflector);
    }
  }

  /** Resolves when the CRD of a kind that is not served is created or changed. */
  async #untilInstalled({ kind }: AnyTable, signal: AbortSignal): Promise<void> {
    const definition = `${kind.plural}.${kind.group}`;
    const include = (name: string): boolean => name === definition;
    for await (const { updates } of this.of(CustomResourceDefinition).map.subscribe({ signal, include })) {
      if (updates.some((update) => !update.delete)) return;
    }
  }
}
