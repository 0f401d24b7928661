// The observed state as plans and models read it: the tables, maps derived from them, and any other watchable map.
// Every read is tracked.
import { BoundedMap } from '../kube/bounded-map.ts';
import { keyOf } from '../kube/objects.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../kube/objects.ts';
import { matches, parseSelector } from '../kube/selector.ts';
import type { Selector } from '../kube/selector.ts';
import { inNamespace } from '../kube/tables/table.ts';
import type { Table } from '../kube/tables/table.ts';
import { NotSynced } from '../kube/tables/tables.ts';
import type { AnyTable, Tables } from '../kube/tables/tables.ts';
import { objectOf } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { Read } from '../watchable/index.ts';

export interface Facts {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined;
  /** Objects of a kind in all namespaces or in one, optionally by label selector. Sorted by key. */
  list<T extends KubeObject>(kind: Kind<T>, where?: { namespace?: string; labels?: string }): readonly T[];
  /** Objects that a declared index of the kind files under `value`. */
  index<T extends KubeObject>(kind: Kind<T>, index: string, value: string): readonly T[];
  /** The keys of all objects of a kind, in order. Wakes its reader only when an object is added or deleted. */
  keys(kind: AnyKind): readonly string[];
  /** False when the API server does not serve the kind. */
  served(kind: AnyKind): boolean;
  /** Reads any watchable map, such as a derived one or one of a controller. */
  readonly read: Read;
  /** The instance of a model for these tables. */
  model<M>(model: Model<M>): M;
}

/** Something computed from facts, usually a derived map. Defined once, and created for each set of tables. */
export interface Model<M> {
  in(tables: Tables): M;
}

/**
 * Defines a model by the function that creates it. `facts` turns the `read` of a derived map into `Facts`:
 * `defineModel((facts) => derive('hosts', (read, key) => hostOf(facts(read).get(Service, refOf(key)))))`
 */
export function defineModel<M>(make: (facts: (read: Read) => Facts) => M): Model<M> {
  const made = new WeakMap<Tables, { readonly model: M }>();
  return {
    in(tables) {
      let own = made.get(tables);
      if (own === undefined) made.set(tables, (own = { model: make((read) => factsOf(tables, read)) }));
      return own.model;
    },
  };
}

/** The facts of these tables, read by `read`. Reading a table that is not synced throws `NotSynced`. */
export function factsOf(tables: Tables, read: Read): Facts {
  return new TrackedFacts(tables, read);
}

/** A class, because one is created for every plan: closures would cost more. */
export class TrackedFacts implements Facts {
  readonly read: Read;
  readonly #tables: Tables;

  constructor(tables: Tables, read: Read) {
    this.#tables = tables;
    this.read = read;
  }

  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined {
    return this.read.get(this.#table(kind).map, keyOf(ref));
  }

  list<T extends KubeObject>(
    kind: Kind<T>,
    { namespace, labels = '' }: { namespace?: string; labels?: string } = {},
  ): readonly T[] {
    const { map } = this.#table(kind);
    if (labels === '') return this.read.list(map, inNamespace(namespace));
    const selector = selectorOf(labels);
    return this.read.list(map, {
      ...inNamespace(namespace),
      matches: ({ metadata }) => matches(selector, metadata.labels),
      id: labels,
    });
  }

  index<T extends KubeObject>(kind: Kind<T>, index: string, value: string): readonly T[] {
    return this.read.index(this.#table(kind).map, index, value);
  }

  keys(kind: AnyKind): readonly string[] {
    return this.read.keys(this.#table(kind).map);
  }

  served(kind: AnyKind): boolean {
    return this.read.get(this.#table(kind).state, 'served')!;
  }

  model<M>(model: Model<M>): M {
    return model.in(this.#tables);
  }

  #table<T extends KubeObject>(kind: Kind<T>): Table<T> {
    const table = this.#tables.of(kind);
    requireSynced(this.#tables, table as unknown as AnyTable, this.read);
    return table;
  }
}

/** Subscribes to the objects of steps, in all tables of their kinds. */
export function readTargets(tables: Tables, read: Read, steps: readonly Step[]): void {
  // All tables are started before the first read waits for one.
  const targets = steps.map((step) => ({ key: keyOf(objectOf(step).metadata), holding: tables.holding(step.kind) }));
  for (const { key, holding } of targets) {
    for (const table of holding) {
      requireSynced(tables, table, read);
      read.get(table.map, key);
    }
  }
}

/** Throws if a table is not synced, and wakes the reader once it is. */
function requireSynced(tables: Tables, table: AnyTable, read: Read): void {
  if (!tables.awaits(table)) return;
  read.get(table.state, 'synced');
  throw new NotSynced(table);
}

/** Plans use the same few selectors again and again. */
const selectors = new BoundedMap<string, Selector>(1_000);

function selectorOf(text: string): Selector {
  let selector = selectors.get(text);
  if (selector === undefined) selectors.set(text, (selector = parseSelector(text)));
  return selector;
}
