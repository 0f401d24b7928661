// The results of dry runs for the writes of a forecast, after which the forecast is repeated. For plans of many
// objects, most of which differ only by the server's defaults and normalisation.
import { isRefusal, refusalText } from '../../controller/index.ts';
import type { Client } from '../../kube/client/client.ts';
import { identityOf } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { Applier, PlanOutdated } from '../../kube/write/apply.ts';
import { objectOf } from '../../kube/write/steps.ts';
import type { Step } from '../../kube/write/steps.ts';
import { Tables } from '../../kube/tables/tables.ts';
import { stringifyJson } from '../../kube/json.ts';

/** What a forecast needs to know. */
interface Questions {
  refuse(step: Step): string | undefined;
  ask(step: Step): KubeObject | undefined;
}

/** The number of concurrent dry runs. */
const MAX_CONCURRENT = 8;

export class ServerAnswers implements Questions {
  readonly #applier: Applier;
  readonly #signal: AbortSignal;
  readonly #answers = new Map<string, { readonly object?: KubeObject; readonly refusal?: string }>();
  readonly #open = new Map<string, Step>();

  constructor({ client, manager, signal }: { client: Client; manager: string; signal: AbortSignal }) {
    // Without tables to compare with, it sends every write.
    this.#applier = new Applier({ client, tables: new Tables(), manager });
    this.#signal = signal;
  }

  refuse(step: Step): string | undefined {
    return this.#answers.get(idOf(step))?.refusal;
  }

  ask(step: Step): KubeObject | undefined {
    if (step.do !== 'own') return undefined;
    const id = idOf(step);
    const answer = this.#answers.get(id);
    if (answer === undefined) this.#open.set(id, step);
    return answer?.object;
  }

  /** Repeats a computation until it needs no further answers. */
  async repeat<R>(make: () => R | Promise<R>): Promise<R> {
    for (;;) {
      this.#open.clear();
      const made = await make();
      if (this.#open.size === 0) return made;
      const open = [...this.#open];
      for (let at = 0; at < open.length; at += MAX_CONCURRENT) {
        await Promise.all(open.slice(at, at + MAX_CONCURRENT).map(([id, step]) => this.#answer(id, step)));
      }
    }
  }

  async #answer(id: string, step: Step): Promise<void> {
    try {
      const [outcome] = await this.#applier.apply([step], { dryRun: true, signal: this.#signal });
      this.#answers.set(id, outcome?.object === undefined ? {} : { object: outcome.object });
    } catch (error) {
      if (!(error instanceof PlanOutdated) && !isRefusal(error)) throw error;
      // Missing permissions of the user say nothing about the controllers.
      const isAnswer = isRefusal(error) && error.cause.code !== 403;
      this.#answers.set(id, isAnswer ? { refusal: refusalText(error) } : {});
    }
  }
}

function idOf(step: Step): string {
  const { metadata } = objectOf(step);
  return `${identityOf(step.kind, metadata)} ${step.do} ${stringifyJson(objectOf(step))}`;
}
