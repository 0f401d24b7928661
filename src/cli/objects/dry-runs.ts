// Asks the server by dry runs whether it would take the writes of a forecast, and makes the forecast again where it would
// not. For the commands that plan.
import { isRefusal, refusalText } from '../../controller/index.ts';
import { Applier, PlanOutdated } from '../../kube/write/apply.ts';
import type { StepFailed } from '../../kube/write/apply.ts';
import type { Client } from '../../kube/client/client.ts';
import { stringifyJson } from '../../kube/json.ts';
import { identityOf, keyOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { editPatch, objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import type { Tables } from '../../kube/tables/tables.ts';

export interface DryRunOptions {
  readonly client: Client;
  readonly tables: Tables;
  /** Who would write. */
  readonly controller: string;
  readonly signal: AbortSignal;
}

export class DryRuns {
  readonly #applier: Applier;
  readonly #tables: Tables;
  readonly #signal: AbortSignal;
  /** By write: what was asked, and why it was refused. */
  readonly #asked = new Set<string>();
  readonly #refused = new Map<string, string>();

  constructor({ client, tables, controller, signal }: DryRunOptions) {
    this.#applier = new Applier({ client, tables, manager: `offshoot-${controller}` });
    this.#tables = tables;
    this.#signal = signal;
  }

  /** Makes something with what is known of refusals, until nothing more is refused. */
  async repeat<R>(make: (refuse: (step: Step) => string | undefined) => R): Promise<R> {
    for (;;) {
      const writes = new Map<string, Step>();
      const made = make((step) => {
        const write = this.#askable(step);
        if (write === undefined) return undefined;
        const id = idOf(write);
        if (!this.#asked.has(id)) writes.set(id, write);
        return this.#refused.get(id);
      });
      const before = this.#refused.size;
      for (const [id, write] of writes) await this.#ask(id, write);
      if (this.#refused.size === before) return made;
    }
  }

  async #ask(id: string, write: Step): Promise<void> {
    this.#asked.add(id);
    try {
      await this.#applier.apply([write], { dryRun: true, signal: this.#signal });
    } catch (error) {
      if (error instanceof PlanOutdated) return;
      if (!isRefusal(error)) throw error;
      if (!isLackOfRights(error)) this.#refused.set(id, refusalText(error));
    }
  }

  /**
   * The write that the server can be asked about now; undefined where it is about something that is not there. An edit
   * of what earlier writes will have made of an object is asked about as an edit of the object as it is.
   */
  #askable(step: Step): Step | undefined {
    if (step.do !== 'edit' && step.do !== 'remove') return step;
    const planned = step.do === 'edit' ? step.from : step.object;
    const live = this.#tables.of(step.kind).get(keyOf(planned.metadata));
    if (live?.metadata.uid !== planned.metadata.uid) return undefined;
    const isSame = live!.metadata.resourceVersion === planned.metadata.resourceVersion;
    if (step.do === 'remove' || isSame) return isSame ? step : undefined;
    const { resourceVersion, generation, managedFields } = live!.metadata;
    const metadata = { ...step.to.metadata, resourceVersion, generation, managedFields } as KubeObject['metadata'];
    return { ...step, from: live!, to: { ...step.to, metadata } };
  }
}

/** Tells writes apart: edits by what they come to, for the server may take one and refuse the next. */
function idOf(step: Step): string {
  const what = step.do === 'edit' ? stringifyJson(editPatch(step) ?? {}) : '';
  return `${step.do} ${identityOf(step.kind, objectOf(step).metadata)} ${what}`;
}

/** Whether it is the person who plans that may not write: this says nothing of controllers. */
function isLackOfRights({ cause }: StepFailed): boolean {
  return cause.code === 403 && /\bUser "[^"]*" cannot /.test(cause.message);
}
