// The only writer. Carries out the steps of a plan in order, writes nothing if nothing differs, and stores the answers
// of the server in the tables at once. Called by the controller loop, and by the command line for dry runs.
import type { Client, RequestOptions } from '../client/client.ts';
import { ApiError, isAlreadyExists, isConflict, isNotFound, serverMessage } from '../errors.ts';
import { apiVersionOf, keyOf } from '../objects.ts';
import type { AnyKind, KubeObject } from '../objects.ts';
import { ownedPart } from './owned.ts';
import { credentialsSecret, requestToken } from './service-account-token.ts';
import { SettledForms } from './settled.ts';
import { describe, editPatch } from './steps.ts';
import { isAppliedOnly, takenOver } from './take-over.ts';
import type { Edit, Make, Own, Remove, Step, Token } from './steps.ts';
import type { Tables } from '../tables/tables.ts';

/** The result of one step. */
export interface Outcome {
  readonly step: Step;
  readonly did: 'created' | 'changed' | 'removed' | 'nothing';
  /** The object as the server returned it; in a dry run, as it would be. */
  readonly object?: KubeObject;
}

/** A write was rejected because an object has changed since the plan was made: plan again. */
export class PlanOutdated extends Error {
  override readonly name = 'PlanOutdated';
}

/** A write was not sent because this process is no longer the leader. */
export class WriteForbidden extends Error {
  override readonly name = 'WriteForbidden';
}

/** A write that the server rejected, with its step. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly step: Step;
  override readonly cause: ApiError;
  /** The outcomes of the steps before it. */
  readonly done: readonly Outcome[];

  constructor(step: Step, cause: ApiError, done: readonly Outcome[]) {
    super(`${step.do} ${describe(step)}: ${serverMessage(cause)}`, { cause });
    this.step = step;
    this.cause = cause;
    this.done = done;
  }
}

export interface ApplierOptions {
  readonly client: Client;
  readonly tables: Tables;
  /** Field manager of everything that is written: `offshoot-<controller>`. */
  readonly manager: string;
  /** Asked before every write; false ends the run with `WriteForbidden`. */
  readonly mayWrite?: () => boolean;
  /** Called after every acknowledged write with their number so far; a test ends the process here. */
  readonly onWrite?: (count: number, outcome: Outcome) => void;
}

/** The version of no object: the server creates an object with it, but refuses to change one that exists. */
const NO_VERSION = '1';

/** Carries out steps for one controller. Remembers the form that the server gives to applied objects. */
export class Applier {
  readonly #client: Client;
  readonly #tables: Tables;
  readonly #manager: string;
  readonly #mayWrite: () => boolean;
  readonly #onWrite: ApplierOptions['onWrite'];
  readonly #settled = new SettledForms((kind, object) => this.#live(kind, object) !== undefined);
  #writes = 0;

  constructor(options: ApplierOptions) {
    this.#client = options.client;
    this.#tables = options.tables;
    this.#manager = options.manager;
    this.#mayWrite = options.mayWrite ?? (() => true);
    this.#onWrite = options.onWrite;
  }

  /** How many writes the server has acknowledged. */
  get writes(): number {
    return this.#writes;
  }

  /**
   * Carries out the steps in order and stops at the first that fails. Rejects with `PlanOutdated`, `WriteForbidden`,
   * `StepFailed`, or the reason of the signal. A dry run asks the server but changes nothing, there or here.
   */
  async apply(steps: readonly Step[], options: { dryRun?: boolean; signal?: AbortSignal } = {}): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (const step of steps) {
      options.signal?.throwIfAborted();
      try {
        outcomes.push(await this.#carryOut(step, options));
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!isConflict(error) && !isAlreadyExists(error)) throw new StepFailed(step, error, outcomes);
        throw new PlanOutdated(`${describe(step)} changed since it was read`, { cause: error });
      }
    }
    return outcomes;
  }

  #carryOut(step: Step, options: SendOptions): Promise<Outcome> | Outcome {
    switch (step.do) {
      case 'own':
        return this.#own(step, options);
      case 'make':
        return this.#make(step, options);
      case 'token':
        return this.#token(step, options);
      case 'edit':
        return this.#edit(step, options);
      case 'remove':
        return this.#remove(step, options);
    }
  }

  #own(step: Own, options: SendOptions): Promise<Outcome> | Outcome {
    const { kind, object, takeOverAnnotation } = step;
    const live = this.#live(kind, object);
    const takesOver = takeOverAnnotation !== undefined && live !== undefined && !isAppliedOnly(live, this.#manager);
    if (live !== undefined && !takesOver && this.#isSettled(kind, live, object)) {
      return { step, did: 'nothing', object: live };
    }
    const apply = (): Promise<Outcome> => this.#send(options, (sending) => this.#applyObject(step, object, sending));
    return takesOver ? this.#takeOver(step, takeOverAnnotation, options).then(apply) : apply();
  }

  /** Takes over the fields that another program set, so that the apply that follows removes unwanted ones. */
  async #takeOver(step: Own, takeOverAnnotation: string, options: SendOptions): Promise<void> {
    if (options.dryRun) return;
    const { kind, object } = step;
    // Tables do not keep the managedFields of others.
    const live = await this.#client.get<KubeObject>(kind, object.metadata, options).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    const managedFields = live && takenOver(live, takeOverAnnotation, this.#manager);
    if (managedFields === undefined) return;
    const { resourceVersion } = live!.metadata;
    const patch = { type: 'merge', body: { metadata: { managedFields, resourceVersion } } } as const;
    await this.#send(options, async (sending) => {
      const answer = await this.#client.patch<KubeObject>(kind, object.metadata, patch, {
        fieldManager: this.#manager,
        ...sending,
      });
      this.#observe(kind, answer);
      return { step, did: 'changed', object: answer };
    });
  }

  async #applyObject(step: Own | Token, object: KubeObject, sending: SendOptions): Promise<Outcome> {
    const { kind } = step;
    const live = this.#live(kind, object);
    const answer = await (live === undefined
      ? this.#applyNew(kind, object, sending)
      : this.#sendApply(kind, object, sending));
    if (!sending.dryRun) {
      this.#observe(kind, answer);
      this.#settled.settle(kind, answer, ownedPart(answer, this.#manager), object);
    }
    if (live !== undefined && live.metadata.resourceVersion === answer.metadata.resourceVersion) {
      return { step, did: 'nothing', object: answer };
    }
    return { step, did: live === undefined ? 'created' : 'changed', object: answer };
  }

  /** Applies an object that no table holds. If it exists nevertheless, it may be somebody else's: the plan is outdated. */
  #applyNew(kind: AnyKind, object: KubeObject, sending: SendOptions): Promise<KubeObject> {
    const created = { ...object, metadata: { ...object.metadata, resourceVersion: NO_VERSION } };
    return this.#sendApply(kind, created, sending).catch(async (error: unknown) => {
      if (!isConflict(error)) throw error;
      const found = await this.#find(kind, object, sending);
      if (found === undefined) throw error;
      this.#observe(kind, found);
      // Some tables hold only some of the objects.
      if (this.#live(kind, object) !== undefined) throw error;
      return this.#sendApply(kind, object, sending);
    });
  }

  #sendApply(kind: AnyKind, object: KubeObject, sending: SendOptions): Promise<KubeObject> {
    const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
    const patch = { type: 'apply', body, force: true } as const;
    return this.#client.patch<KubeObject>(kind, object.metadata, patch, { fieldManager: this.#manager, ...sending });
  }

  #make(step: Make, options: SendOptions): Promise<Outcome> | Outcome {
    const { kind, object } = step;
    const live = this.#live(kind, object);
    if (live !== undefined) return { step, did: 'nothing', object: live };
    return this.#send(options, async (sending) => {
      const body = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
      const answer = await this.#client.create<KubeObject>(kind, body, { fieldManager: this.#manager, ...sending });
      if (!options.dryRun) this.#observe(kind, answer);
      return { step, did: 'created', object: answer };
    });
  }

  #token(step: Token, options: SendOptions): Promise<Outcome> {
    return this.#send(options, async (sending) => {
      // A dry run requests no token: it would be valid.
      if (sending.dryRun) return this.#applyObject(step, step.object, sending);
      const issued = await requestToken(this.#client, step.serviceAccount, step.expirationSeconds, sending);
      return this.#applyObject(step, await credentialsSecret(step, issued), sending);
    });
  }

  #edit(step: Edit, options: SendOptions): Promise<Outcome> | Outcome {
    const { kind, from, to, subresource } = step;
    const patch = editPatch(step);
    if (patch === undefined) return { step, did: 'nothing', object: from };
    return this.#send(options, async (sending) => {
      const guarded = {
        ...patch,
        metadata: { ...(patch['metadata'] as object | undefined), resourceVersion: from.metadata.resourceVersion },
      };
      const writing = { fieldManager: this.#manager, ...(subresource && { subresource }), ...sending };
      const sent = this.#client.patch<KubeObject>(kind, to.metadata, { type: 'merge', body: guarded }, writing);
      const answer = await sent.catch(async (error: unknown) => {
        if (!isNotFound(error) || !(await this.#isGone(kind, from, sending))) throw error;
        throw new PlanOutdated(`${describe(step)} is gone since it was read`, { cause: error });
      });
      if (!options.dryRun) this.#observe(kind, answer);
      return { step, did: 'changed', object: answer };
    });
  }

  #remove(step: Remove, options: SendOptions): Promise<Outcome> | Outcome {
    const { kind, object, propagation, unchanged } = step;
    if (object.metadata.deletionTimestamp !== undefined) return { step, did: 'nothing', object };
    return this.#send(options, async (sending) => {
      const { uid, resourceVersion } = object.metadata;
      try {
        const answer = await this.#client.delete<KubeObject>(kind, object.metadata, {
          ...(uid && { preconditions: { uid, ...(unchanged && { resourceVersion }) } }),
          propagationPolicy: propagation ?? 'Background',
          ...sending,
        });
        if (!options.dryRun) {
          if (answer === undefined) this.#observeDeleted(kind, object);
          else this.#observe(kind, answer);
        }
      } catch (error) {
        if (!isNotFound(error) || !(await this.#isGone(kind, object, sending))) throw error;
        return { step, did: 'nothing' };
      }
      this.#settled.forget(kind, object);
      return { step, did: 'removed' };
    });
  }

  /** Whether a 404 means that the object is gone, and not only its kind, a subresource or the route to the server. */
  async #isGone(kind: AnyKind, object: KubeObject, sending: SendOptions): Promise<boolean> {
    const found = await this.#find(kind, object, sending);
    const isGone = found?.metadata.uid !== object.metadata.uid;
    if (isGone) this.#observeDeleted(kind, object);
    if (found !== undefined) this.#observe(kind, found);
    return isGone;
  }

  /** Reads an object by a list: a process that has a table of the kind has that permission. */
  async #find(kind: AnyKind, object: KubeObject, { signal }: SendOptions): Promise<KubeObject | undefined> {
    const { name, namespace } = object.metadata;
    const where = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
    const { items } = await this.#client.list<KubeObject>(kind, { ...where, ...(signal && { signal }) });
    return items[0];
  }

  /** The object from a table, preferably one that holds complete objects. */
  #live(kind: AnyKind, { metadata }: KubeObject): KubeObject | undefined {
    const key = keyOf(metadata);
    const having = this.#tables.holding(kind).filter((table) => table.get(key) !== undefined);
    return (having.find((table) => table.holdsWholeObjects) ?? having[0])?.get(key);
  }

  #observe(kind: AnyKind, object: KubeObject): void {
    for (const table of this.#tables.holding(kind)) table.observe(object);
  }

  #observeDeleted(kind: AnyKind, object: KubeObject): void {
    for (const table of this.#tables.holding(kind)) table.observeDeleted(object);
  }

  /** Every write goes through here. */
  async #send(options: SendOptions, write: (sending: SendOptions) => Promise<Outcome>): Promise<Outcome> {
    if (options.dryRun) return write(options);
    this.throwUnlessMayWrite();
    // A request may wait for its turn and a connection: by then, another process may lead.
    const outcome = await write({ ...options, beforeSend: () => this.throwUnlessMayWrite() });
    this.#onWrite?.(++this.#writes, outcome);
    return outcome;
  }

  /** Throws `WriteForbidden` unless this process may write. */
  throwUnlessMayWrite(): void {
    if (!this.#mayWrite()) throw new WriteForbidden('another process leads: nothing was written');
  }

  #isSettled(kind: AnyKind, live: KubeObject, desired: KubeObject): boolean {
    const owned = ownedPart(live, this.#manager);
    return owned !== undefined && this.#settled.isSettled(kind, live, owned, desired);
  }
}

interface SendOptions extends Pick<RequestOptions, 'signal' | 'beforeSend'> {
  readonly dryRun?: boolean;
}
