// What is observed, as plans and models read it: the tables, the maps that are derived from them, and any other
// watchable map. Every read is a tracked one.
import { BoundedMap } from '../kube/bounded-map.ts';
import { keyOf } from '../kube/objects.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../kube/objects.ts';
import { matches, parseSelector } from '../kube/selector.ts';
import type { Selector } from '../kube/selector.ts';
import { inNamespace } from '../kube/tables/table.ts';
import type { Tables } from '../kube/tables/tables.ts';
import type { Read } from '../watchable/index.ts';

export interface Facts {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined;
  /** Objects of a kind: everywhere, or of one namespace; those that match a label selector, or all. Sorted by key. */
  list<T extends KubeObject>(kind: Kind<T>, where?: { namespace?: string; labels?: string }): readonly T[];
  /** Objects that a declared index of the kind files under `value`. */
  index<T extends KubeObject>(kind: Kind<T>, index: string, value: string): readonly T[];
  /** The keys of all objects of a kind, in order. Concerns who reads it only when an object comes or goes. */
  keys(kind: AnyKind): readonly string[];
  /** False when the API server does not serve the kind. */
  served(kind: AnyKind): boolean;
  /** Reads any watchable map, be it derived or kept by a controller. */
  readonly read: Read;
  /** The map that a model is here. */
  model<M>(model: Model<M>): M;
}

/** Something that follows from facts; a derived map, as a rule. Defined once, and made for each set of tables. */
export interface Model<M> {
  in(tables: Tables): M;
}

/**
 * Defines a model by what makes it. `facts` turns the `read` of a derived map into one of tables:
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

/** The facts of these tables, as `read` reads them. */
export function factsOf(tables: Tables, read: Read): Facts {
  return {
    get: (kind, ref) => read.get(tables.of(kind).map, keyOf(ref)),
    list: (kind, { namespace, labels = '' } = {}) => {
      const { map } = tables.of(kind);
      if (labels === '') return read.list(map, inNamespace(namespace));
      const selector = selectorOf(labels);
      return read.list(map, {
        ...inNamespace(namespace),
        matches: ({ metadata }) => matches(selector, metadata.labels),
        id: labels,
      });
    },
    index: (kind, index, value) => read.index(tables.of(kind).map, index, value),
    keys: (kind) => read.keys(tables.of(kind).map),
    served: (kind) => read.get(tables.of(kind).state, 'served')!,
    read,
    model: (model) => model.in(tables),
  };
}

/** Plans ask for the same few selectors again and again. */
const selectors = new BoundedMap<string, Selector>(1_000);

function selectorOf(text: string): Selector {
  let selector = selectors.get(text);
  if (selector === undefined) selectors.set(text, (selector = parseSelector(text)));
  return selector;
}
