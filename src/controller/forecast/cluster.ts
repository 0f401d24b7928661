// The cluster of a forecast: an overlay of the tables that answers writes as the API server would, and records them.
import { createHash } from 'node:crypto';
import { keyOf } from '../../kube/objects.ts';
import type { AnyKind, KubeObject, ManagedFieldsEntry, Ref } from '../../kube/objects.ts';
import { timestamp } from '../../kube/times.ts';
import { objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import type { Notes, RefusedAttempt } from '../definition.ts';
import type { Facts } from '../facts.ts';
import { WhatIf } from '../what-if.ts';
import type { Author, Write } from './changes.ts';
import { AskedServer } from './asked-server.ts';
import { Definitions, established } from './definitions.ts';
import type { ForecastOptions } from './forecast.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { isNamespace, TerminatingNamespaces } from './namespaces.ts';
import { answerTo, deleted, OUTDATED } from './server.ts';
import type { Answer, Server } from './server.ts';

export interface ForecastClusterOptions extends Pick<
  ForecastOptions,
  'tables' | 'now' | 'refuse' | 'ask' | 'managedFields'
> {
  /** Determines the uids of new objects. */
  readonly seed: string;
  /** Whether dependents are deleted with their owners, and the objects of a namespace with it. */
  readonly simulatesCluster: boolean;
  readonly onWrite: (kind: AnyKind, key: string) => void;
}

/** The prefix of the resource versions that the forecast writes. */
const FORECAST = 'forecast-';

export class ForecastCluster implements Server {
  readonly whatIf: WhatIf;
  /** Every write, in order. */
  readonly writes: Write[] = [];
  readonly #options: ForecastClusterOptions;
  readonly #garbage: GarbageCollector | undefined;
  readonly #namespaces: TerminatingNamespaces | undefined;
  readonly #definitions: Definitions | undefined;
  readonly #server: AskedServer | undefined;
  #now: number;
  #versions = 0;
  #uids = 0;

  constructor(options: ForecastClusterOptions) {
    this.#options = options;
    this.#now = options.now;
    // Recorded times are whole seconds: what is created now must not have expired before.
    const lastExpiry = Math.floor(options.now / 1_000) * 1_000;
    this.whatIf = new WhatIf({ tables: options.tables, now: () => this.#now, lastExpiry });
    if (options.ask !== undefined) this.#server = new AskedServer(options.ask);
    if (!options.simulatesCluster) return;
    this.#garbage = new GarbageCollector(this);
    this.#namespaces = new TerminatingNamespaces(this);
    this.#definitions = new Definitions(this);
  }

  get facts(): Facts {
    return this.whatIf.facts;
  }

  /** The kinds that have tables. */
  get kinds(): readonly AnyKind[] {
    return [...this.#options.tables].map(({ kind }) => kind);
  }

  /** Notes of controllers stay in the forecast. */
  get notes(): Notes {
    return { ...this.whatIf.notes, now: () => this.#now };
  }

  close(): void {
    this.whatIf.close();
  }

  now(): number {
    return this.#now;
  }

  /** Advances the clock. */
  advanceTo(now: number): void {
    this.#now = now;
  }

  uid({ metadata }: KubeObject): string {
    return metadata.uid ?? uuidOf(`${this.#options.seed}/${++this.#uids}`);
  }

  token(): string {
    return `a token that the server has not issued yet (${this.#options.seed})`;
  }

  managedFields(kind: AnyKind, object: KubeObject): readonly ManagedFieldsEntry[] | undefined {
    return this.#options.managedFields?.(kind, object);
  }

  version(): string {
    return `${FORECAST}${++this.#versions}`;
  }

  get(kind: AnyKind, ref: Ref): KubeObject | undefined {
    return this.facts.get(kind, ref);
  }

  /** Stores an object as given; a new one gets a uid and the current time. */
  put(kind: AnyKind, object: KubeObject, author: Author): void {
    const before = this.get(kind, object.metadata);
    const uid = object.metadata.uid ?? before?.metadata.uid ?? this.uid(object);
    const created = before === undefined ? { creationTimestamp: timestamp(this.#now), generation: 1 } : {};
    const after = { ...object, metadata: { ...created, ...object.metadata, uid, resourceVersion: this.version() } };
    this.record({ kind, before, after, ...author });
  }

  /** Carries out a step, unless the server would refuse it. */
  apply(step: Step, manager: string, author: Author): Answer | RefusedAttempt | typeof OUTDATED {
    const { kind } = step;
    // The controller of the step may know only a part of the object.
    const before = this.whatIf.whole(kind, objectOf(step).metadata);
    const expected = answerTo(step, before, manager, this);
    // A step that changes nothing is not sent, so nobody refuses it.
    if (expected === OUTDATED || expected.did === 'nothing') return expected;
    const message = this.#refusalOf(step);
    if (message !== undefined) return { did: 'refused', message, isForbidden: false };
    const answer = this.#asked(step, before, expected, manager);
    if (step.do === 'remove' && answer.did === 'removed') this.delete(kind, before!, author);
    else if (answer.did !== 'nothing') this.record({ kind, before, after: answer.object, ...author });
    return answer;
  }

  /** Deletes an object, or marks it if it has finalizers; a namespace is deleted with its objects. */
  delete(kind: AnyKind, before: KubeObject, author: Author): void {
    const { object: after } = deleted(before, this);
    const write = { kind, before, after, ...author };
    if (this.#namespaces !== undefined && isNamespace(kind)) this.#namespaces.terminate(write);
    else this.record(write);
  }

  /** Deletes objects that have lost their last owner; returns whether there were any. */
  collectGarbage(): boolean {
    return this.#garbage?.collect() ?? false;
  }

  /** Records and applies a write. */
  record(recorded: Write): void {
    const { kind, before } = recorded;
    const after = recorded.after && established(kind, recorded.after);
    const write = { ...recorded, after };
    this.writes.push(write);
    if (after === undefined) this.whatIf.remove(kind, before!.metadata);
    else this.whatIf.put(kind, after);
    this.#garbage?.observe(write);
    this.#namespaces?.observe(write);
    this.#definitions?.observe(write);
    this.#options.onWrite(kind, keyOf((after ?? before)!.metadata));
  }

  #asked(step: Step, before: KubeObject | undefined, expected: Answer, manager: string): Answer {
    if (before === undefined || expected.did !== 'changed' || step.do !== 'own') return expected;
    const answer = this.#server?.answer(step, before, manager, !isForecast(before));
    if (answer?.did !== 'changed') return answer ?? expected;
    const metadata = { ...answer.object!.metadata, resourceVersion: this.version() };
    return { did: 'changed', object: { ...answer.object!, metadata } };
  }

  #refusalOf(step: Step): string | undefined {
    if (!this.facts.served(step.kind)) return `the cluster does not serve ${step.kind.kind}: install its definition`;
    const { metadata } = objectOf(step);
    const isNew = step.do !== 'edit' && step.do !== 'remove' && this.get(step.kind, metadata) === undefined;
    if (isNew && this.#namespaces?.has(metadata.namespace)) return `namespace ${metadata.namespace} is being deleted`;
    // Writes of a status are never refused.
    return step.do === 'edit' && step.subresource ? undefined : this.#options.refuse?.(step);
  }
}

function isForecast({ metadata }: KubeObject): boolean {
  return metadata.resourceVersion?.startsWith(FORECAST) ?? false;
}

/** A uid in the form of the server's. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [8, 4, 4, 4, 12].map((length, i) => hex.slice(i * 12, i * 12 + length)).join('-');
}
