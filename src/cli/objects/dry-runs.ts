// Asks the server by dry runs whether it would take the writes of a forecast, and makes the forecast again where it would
// not. For the commands that plan.
import { isRefusal, refusalText } from '../../controller/index.ts';
import { Applier, PlanOutdated } from '../../kube/write/apply.ts';
import type { StepFailed } from '../../kube/write/apply.ts';
import type { Client } from '../../kube/client/client.ts';
import { identityOf, keyOf } from '../../kube/objects.ts';
import { objectOf } from '../../kube/write/steps.ts';
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
  /** By object: the first write to it. Later ones build on what is not there. */
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
      const steps = new Map<string, Step>();
      const made = make((step) => {
        const id = identityOf(step.kind, objectOf(step).metadata);
        if (!this.#asked.has(id) && !steps.has(id)) steps.set(id, step);
        return this.#refused.get(id);
      });
      const before = this.#refused.size;
      for (const [id, step] of steps) await this.#ask(id, step);
      if (this.#refused.size === before) return made;
    }
  }

  async #ask(id: string, step: Step): Promise<void> {
    this.#asked.add(id);
    if (!this.#isAboutWhatIs(step)) return;
    try {
      await this.#applier.apply([step], { dryRun: true, signal: this.#signal });
    } catch (error) {
      if (error instanceof PlanOutdated) return;
      if (!isRefusal(error)) throw error;
      if (!isLackOfRights(error)) this.#refused.set(id, refusalText(error));
    }
  }

  /** Whether the server has the object that a step changes or removes as it is planned with. */
  #isAboutWhatIs(step: Step): boolean {
    if (step.do !== 'edit' && step.do !== 'remove') return true;
    const { metadata } = step.do === 'edit' ? step.from : step.object;
    return this.#tables.of(step.kind).get(keyOf(metadata))?.metadata.resourceVersion === metadata.resourceVersion;
  }
}

/** Whether it is the person who plans that may not write: this says nothing of controllers. */
function isLackOfRights({ cause }: StepFailed): boolean {
  return cause.code === 403 && /\bUser "[^"]*" cannot /.test(cause.message);
}
