// Reading is subscribing: a view answers a plan's reads from the tables and remembers them, so that a change to
// anything that was read, or looked for and not found, wakes exactly the readers concerned.
import type { AnyTable, Tables } from '../kube/tables/tables.ts';
import { keyOf } from '../kube/objects.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../kube/objects.ts';
import { matches, parseSelector } from '../kube/selector.ts';
import type { Selector } from '../kube/selector.ts';

/** The world as a plan sees it. Reads are answered at once and always from what has been observed. */
export interface View {
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined;
  /** Objects of a kind: everywhere, or of one namespace; those that match a label selector, or all. */
  list<T extends KubeObject>(kind: Kind<T>, where?: { namespace?: string; labels?: string }): readonly T[];
  /** Objects that a declared index of the kind files under `value`. */
  index<T extends KubeObject>(kind: Kind<T>, index: string, value: string): readonly T[];
  /** False when the API server does not serve the kind. */
  served(kind: AnyKind): boolean;
  /** What the server said when it refused, in this very pass, what the plan wanted of an object. */
  refusal: Refusal;
  /**
   * For how many milliseconds every plan of this object has found the same, from the first one on in this process; 0
   * then. For what may be under way: objects of two kinds do not arrive in the order in which they were made.
   */
  heldFor(finding: string): number;
  /** The time in milliseconds. Reading it subscribes to nothing: a plan says itself when to look again. */
  now(): number;
}

/** Why a write to an object was refused; undefined if none was. */
export type Refusal = (kind: AnyKind, ref: Ref) => string | undefined;

/** Told of a reader that something it read has changed: an object, which is given unless it is gone, or anything else. */
type Wake = (reader: string, changed?: KubeObject) => void;

/** Something that can be read: an object, a list, an entry of an index. Knows who read it. */
interface Topic {
  readonly readers: Set<string>;
  /** Takes the topic out of the reverse index once nobody reads it. */
  drop(): void;
}

interface ListTopic extends Topic {
  readonly selector: Selector | undefined;
}

const EVERYWHERE = '';

/** The reverse index: which readers read what. One for each controller. */
export class Reads {
  readonly #tables: Tables;
  readonly #wake: Wake;
  readonly #now: () => number;
  readonly #byTable = new Map<AnyTable, TableTopics>();
  readonly #byReader = new Map<string, Set<Topic>>();
  /** By reader: what its last plan found, and since when that was so. */
  readonly #findings = new Map<string, ReadonlyMap<string, number>>();

  constructor(options: { tables: Tables; now: () => number; wake: Wake }) {
    this.#tables = options.tables;
    this.#wake = options.wake;
    this.#now = options.now;
  }

  /** Runs `plan` with a view and makes its reads the reader's subscriptions, also when it throws. */
  track<R>(reader: string, plan: (view: View) => R, refusal: Refusal = () => undefined): R {
    const read = new Set<Topic>();
    const findings = new Map<string, number>();
    const before = this.#findings.get(reader);
    const heldFor = (finding: string): number => {
      const since = before?.get(finding) ?? this.#now();
      findings.set(finding, since);
      return this.#now() - since;
    };
    try {
      return plan({ ...this.#view(read, refusal), heldFor });
    } finally {
      this.#subscribe(reader, read);
      if (findings.size > 0) this.#findings.set(reader, findings);
      else this.#findings.delete(reader);
    }
  }

  /** Ends all subscriptions of a reader. */
  forget(reader: string): void {
    this.#subscribe(reader, new Set());
    this.#findings.delete(reader);
  }

  /** Ends all subscriptions to tables. */
  close(): void {
    for (const topics of this.#byTable.values()) topics.close();
    this.#byTable.clear();
    this.#byReader.clear();
  }

  #view(read: Set<Topic>, refusal: Refusal): Omit<View, 'heldFor'> {
    return {
      get: (kind, ref) => {
        const table = this.#tables.of(kind);
        const key = keyOf(ref);
        read.add(this.#topics(kind).object(key));
        return table.get(key);
      },
      list: (kind, where = {}) => {
        const table = this.#tables.of(kind);
        const topic = this.#topics(kind).list(where.namespace ?? EVERYWHERE, where.labels ?? '');
        read.add(topic);
        const objects = table.list(where.namespace);
        const { selector } = topic;
        return selector === undefined ? objects : objects.filter((object) => matches(selector, object.metadata.labels));
      },
      index: (kind, index, value) => {
        const table = this.#tables.of(kind);
        read.add(this.#topics(kind).entry(index, value));
        return table.index(index, value);
      },
      served: (kind) => {
        const table = this.#tables.of(kind);
        read.add(this.#topics(kind).service());
        return table.served;
      },
      refusal,
      now: this.#now,
    };
  }

  #subscribe(reader: string, read: Set<Topic>): void {
    const before = this.#byReader.get(reader);
    for (const topic of read) topic.readers.add(reader);
    if (read.size > 0) this.#byReader.set(reader, read);
    else this.#byReader.delete(reader);
    if (before === undefined) return;
    for (const topic of before) {
      if (read.has(topic)) continue;
      topic.readers.delete(reader);
      if (topic.readers.size === 0) topic.drop();
    }
  }

  #topics(kind: AnyKind): TableTopics {
    const table = this.#tables.of(kind);
    let topics = this.#byTable.get(table);
    if (topics === undefined) this.#byTable.set(table, (topics = new TableTopics(table, this.#wake)));
    return topics;
  }
}

/** The topics of one table, found again from a change of it. */
class TableTopics {
  readonly #table: AnyTable;
  readonly #wake: Wake;
  readonly #objects = new Map<string, Topic>();
  readonly #lists = new Map<string, Map<string, ListTopic>>();
  readonly #entries = new Map<string, Map<string, Topic>>();
  readonly #service: Topic = { readers: new Set(), drop() {} };
  readonly #stop: (() => void)[];

  constructor(table: AnyTable, wake: Wake) {
    this.#table = table;
    this.#wake = wake;
    this.#stop = [
      table.onChange((change) => this.#changed(change.key, change.old, change.new)),
      table.onServedChange(() => this.#notify(this.#service)),
    ];
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  service(): Topic {
    return this.#service;
  }

  object(key: string): Topic {
    return topicIn(this.#objects, key);
  }

  entry(index: string, value: string): Topic {
    let entries = this.#entries.get(index);
    if (entries === undefined) this.#entries.set(index, (entries = new Map()));
    return topicIn(entries, value);
  }

  list(namespace: string, labels: string): ListTopic {
    let lists = this.#lists.get(namespace);
    if (lists === undefined) this.#lists.set(namespace, (lists = new Map()));
    let topic = lists.get(labels);
    if (topic === undefined) {
      const among = lists;
      const selector = labels === '' ? undefined : parseSelector(labels);
      topic = { readers: new Set(), selector, drop: () => void among.delete(labels) };
      lists.set(labels, topic);
    }
    return topic;
  }

  #changed(key: string, old: KubeObject | undefined, next: KubeObject | undefined): void {
    this.#notify(this.#objects.get(key), next);
    const namespace = (next ?? old)?.metadata.namespace ?? EVERYWHERE;
    this.#listsChanged(EVERYWHERE, old, next);
    if (namespace !== EVERYWHERE) this.#listsChanged(namespace, old, next);
    for (const [index, entries] of this.#entries) {
      if (entries.size === 0) continue;
      const values = new Set<string>();
      if (old !== undefined) for (const value of this.#table.valuesOf(index, old)) values.add(value);
      if (next !== undefined) for (const value of this.#table.valuesOf(index, next)) values.add(value);
      for (const value of values) this.#notify(entries.get(value), next);
    }
  }

  #listsChanged(namespace: string, old: KubeObject | undefined, next: KubeObject | undefined): void {
    for (const topic of this.#lists.get(namespace)?.values() ?? []) {
      const { selector } = topic;
      const concerned =
        selector === undefined ||
        (old !== undefined && matches(selector, old.metadata.labels)) ||
        (next !== undefined && matches(selector, next.metadata.labels));
      if (concerned) this.#notify(topic, next);
    }
  }

  #notify(topic: Topic | undefined, changed?: KubeObject): void {
    if (topic !== undefined) for (const reader of topic.readers) this.#wake(reader, changed);
  }
}

function topicIn(topics: Map<string, Topic>, name: string): Topic {
  let topic = topics.get(name);
  if (topic === undefined) {
    topic = { readers: new Set(), drop: () => void topics.delete(name) };
    topics.set(name, topic);
  }
  return topic;
}
