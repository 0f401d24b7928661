// All tables of a process: one for each kind, shared by everybody who reads it, kept current by one reflector each.
import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import { apiVersionOf } from '../objects.ts';
import type { AnyKind, Kind, KubeObject } from '../objects.ts';
import { runReflector } from './reflector.ts';
import { Table } from './table.ts';
import type { TableOptions } from './table.ts';

export type AnyTable = Table<KubeObject>;

/** A wish to read a kind, with the indexes that the reader needs. */
export interface TableDeclaration {
  readonly kind: AnyKind;
  readonly options: TableOptions<KubeObject>;
}

/** Declares that a kind is read: `reading(Deployment, { indexes: { owner: byOwner } })`. */
export function reading<T extends KubeObject>(kind: Kind<T>, options: TableOptions<T> = {}): TableDeclaration {
  return { kind, options: options as TableOptions<KubeObject> };
}

export class Tables {
  readonly #tables = new Map<string, AnyTable>();

  /** Makes the tables for these declarations. Several of one kind share a table that has all their indexes. */
  constructor(declarations: Iterable<TableDeclaration>) {
    const merged = new Map<string, TableDeclaration>();
    for (const declaration of declarations) {
      const id = idOf(declaration.kind);
      const before = merged.get(id);
      merged.set(id, before === undefined ? declaration : merge(before, declaration));
    }
    for (const [id, { kind, options }] of merged) this.#tables.set(id, new Table(kind, options));
  }

  /** The table of a kind. A kind that nobody declared is a mistake in the program. */
  of<T extends KubeObject>(kind: Kind<T>): Table<T> {
    const table = this.#tables.get(idOf(kind));
    if (table === undefined) {
      throw new Error(`no table for ${kind.kind} (${apiVersionOf(kind)}): declare it in the controller's "reads"`);
    }
    return table as unknown as Table<T>;
  }

  [Symbol.iterator](): Iterator<AnyTable> {
    return this.#tables.values();
  }

  /** Runs a reflector for each table until the signal; resolves when all of them have ended. */
  async run(options: {
    client: Client;
    clock: Clock;
    signal: AbortSignal;
    onError?: (table: AnyTable, error: unknown) => void;
  }): Promise<void> {
    const { client, clock, signal, onError } = options;
    await Promise.all(
      [...this.#tables.values()].map((table) =>
        runReflector({
          client: client.flow('reflectors'),
          table,
          clock,
          signal,
          onError: (error) => onError?.(table, error),
        }),
      ),
    );
  }

  /** Resolves when every table has been listed once. */
  async whenSynced(signal?: AbortSignal): Promise<void> {
    await Promise.all([...this.#tables.values()].map((table) => table.whenSynced(signal)));
  }
}

function idOf(kind: AnyKind): string {
  return `${kind.group}/${kind.plural}`;
}

function merge(a: TableDeclaration, b: TableDeclaration): TableDeclaration {
  const { indexes: indexesOfA = {}, optional: isOptionalToA, ...scopeOfA } = a.options;
  const { indexes: indexesOfB = {}, optional: isOptionalToB, ...scopeOfB } = b.options;
  if (a.kind.version !== b.kind.version || JSON.stringify(scopeOfA) !== JSON.stringify(scopeOfB)) {
    throw new Error(`${a.kind.kind} is declared twice, with different versions, namespaces or selectors`);
  }
  for (const [name, index] of Object.entries(indexesOfB)) {
    if (indexesOfA[name] !== undefined && indexesOfA[name] !== index) {
      throw new Error(`${a.kind.kind} has two different indexes named "${name}"`);
    }
  }
  // Who can't do without it waits for it, whatever it is to others.
  const optional = Boolean(isOptionalToA && isOptionalToB);
  return { kind: a.kind, options: { ...scopeOfA, optional, indexes: { ...indexesOfA, ...indexesOfB } } };
}
