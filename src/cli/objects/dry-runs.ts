// Finds out what a forecast can't know: by dry runs whether the server would accept the writes, and the managed fields
// of objects. The forecast is then repeated with the answers. For the plan commands.
import { isRefusal, refusalText } from '../../controller/index.ts';
import type { ForecastOptions, Planned } from '../../controller/index.ts';
import { Applier, PlanOutdated } from '../../kube/write/apply.ts';
import type { StepFailed } from '../../kube/write/apply.ts';
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { stringifyJson } from '../../kube/json.ts';
import { identityOf, keyOf } from '../../kube/objects.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../kube/objects.ts';
import { editPatch, objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import type { Tables } from '../../kube/tables/tables.ts';

export interface DryRunOptions {
  readonly client: Client;
  readonly tables: Tables;
  /** The controller that would write, or one of them. */
  readonly controller: string;
  readonly signal: AbortSignal;
}

/** The server's answers so far. */
type Known = Required<Pick<ForecastOptions, 'refuse' | 'managedFields'>>;

export class DryRuns {
  readonly #applier: Applier;
  readonly #tables: Tables;
  readonly #signal: AbortSignal;
  /** By write: whether a dry run was made, and why it was rejected. */
  readonly #tried = new Set<string>();
  readonly #refused = new Map<string, string>();
  /** By uid: the managedFields of objects on the server. */
  readonly #managedFields = new Map<string, readonly ManagedFieldsEntry[]>();
  readonly #client: Client;

  constructor({ client, tables, controller, signal }: DryRunOptions) {
    this.#client = client;
    this.#applier = new Applier({ client, tables, manager: `offshoot-${controller}` });
    this.#tables = tables;
    this.#signal = signal;
  }

  /** Repeats a computation with the server's answers, until it needs no more of them. */
  async repeat<R>(make: (known: Known) => R): Promise<R> {
    for (;;) {
      const writes = new Map<string, Step>();
      const objects = new Map<string, Planned>();
      const made = make({
        refuse: (step) => {
          const write = this.#dryRunOf(step);
          if (write === undefined) return undefined;
          const id = idOf(write);
          if (!this.#tried.has(id)) writes.set(id, write);
          return this.#refused.get(id);
        },
        managedFields: (kind, object) => {
          const { uid } = object.metadata;
          const isThere = this.#tables.of(kind).get(keyOf(object.metadata))?.metadata.uid === uid;
          if (uid === undefined || !isThere) return undefined;
          if (!this.#managedFields.has(uid)) objects.set(uid, { kind, object });
          return this.#managedFields.get(uid);
        },
      });
      const before = this.#refused.size + this.#managedFields.size;
      for (const [uid, each] of objects) await this.#read(uid, each);
      for (const [id, write] of writes) await this.#ask(id, write);
      if (this.#refused.size + this.#managedFields.size === before) return made;
    }
  }

  async #read(uid: string, { kind, object }: Planned): Promise<void> {
    const live = await this.#client.get<KubeObject>(kind, object.metadata, { signal: this.#signal }).catch((error) => {
      if (!isNotFound(error)) throw error;
    });
    this.#managedFields.set(uid, live?.metadata.uid === uid ? (live.metadata.managedFields ?? []) : []);
  }

  async #ask(id: string, write: Step): Promise<void> {
    this.#tried.add(id);
    try {
      await this.#applier.apply([write], { dryRun: true, signal: this.#signal });
    } catch (error) {
      if (error instanceof PlanOutdated) return;
      if (!isRefusal(error)) throw error;
      if (!isLackOfPermissions(error)) this.#refused.set(id, refusalText(error));
    }
  }

  /**
   * The write to try as a dry run; undefined if its object or its namespace does not exist yet. An edit that depends on
   * earlier writes is tried as an edit of the current object.
   */
  #dryRunOf(step: Step): Step | undefined {
    if (!this.#hasNamespace(objectOf(step).metadata.namespace)) return undefined;
    if (step.do !== 'edit' && step.do !== 'remove') return step;
    const planned = step.do === 'edit' ? step.from : step.object;
    const live = this.#tables.of(step.kind).get(keyOf(planned.metadata));
    const { uid, deletionTimestamp } = planned.metadata;
    if (live?.metadata.uid !== uid || live?.metadata.deletionTimestamp !== deletionTimestamp) return undefined;
    const isSame = live!.metadata.resourceVersion === planned.metadata.resourceVersion;
    if (step.do === 'remove' || isSame) return isSame ? step : undefined;
    const { resourceVersion, generation, managedFields } = live!.metadata;
    const metadata = { ...step.to.metadata, resourceVersion, generation, managedFields } as KubeObject['metadata'];
    return { ...step, from: live!, to: { ...step.to, metadata } };
  }

  /** False if a namespace is known not to exist. */
  #hasNamespace(namespace: string | undefined): boolean {
    const namespaces = [...this.#tables].find(({ kind }) => kind.kind === 'Namespace' && kind.group === '');
    if (namespace === undefined || !namespaces?.synced) return true;
    return namespaces.get(namespace) !== undefined;
  }
}

/** Identifies a write; edits also by their patch, as the server may accept one and reject another. */
function idOf(step: Step): string {
  const what = step.do === 'edit' ? stringifyJson(editPatch(step) ?? {}) : '';
  return `${step.do} ${identityOf(step.kind, objectOf(step).metadata)} ${what}`;
}

/** Whether the user who plans lacks permissions: this says nothing about the controllers. */
function isLackOfPermissions({ cause }: StepFailed): boolean {
  return cause.code === 403 && /\bUser "[^"]*" cannot /.test(cause.message);
}
