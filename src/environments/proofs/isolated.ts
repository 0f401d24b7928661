// The condition `Isolated`: the result of the proof of an environment, computed again only when its input changes. It
// is independent of `Ready`.
import { defineModel } from '../../controller/index.ts';
import type { Facts, Model, PlannedCondition } from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { differenceText, explainLine } from '../../traffic/index.ts';
import type { Counterexample, Proof } from '../../traffic/index.ts';
import { derive } from '../../watchable/index.ts';
import type { Lookup } from '../../watchable/index.ts';
import type { ReasonOf } from '../reasons.ts';
import type { Settings } from '../settings.ts';
import { proveEnvironment } from './prove-environment.ts';

export const ISOLATED = 'Isolated';

/** The condition of an environment. */
export function isolatedIn(facts: Facts, environment: Ref, settings: Settings): PlannedCondition | undefined {
  return facts.read.get(facts.model(conditionsBy(settings)), keyOf(environment));
}

type IsolatedConditions = Model<Lookup<string, PlannedCondition>>;

const models = new Map<string, IsolatedConditions>();

function conditionsBy(settings: Settings): IsolatedConditions {
  const id = JSON.stringify(settings);
  let model = models.get(id);
  if (model === undefined) {
    model = defineModel((facts) =>
      derive('conditions Isolated', (read, key: string) => {
        const proof = proveEnvironment(facts(read), refOf(key), settings);
        return proof && isolatedCondition(proof);
      }),
    );
    models.set(id, model);
  }
  return model;
}

/** The condition for a proof, with the counterexample as a request to try, if there is one. */
function isolatedCondition({ verdict, reason, message, counterexample }: Proof): PlannedCondition {
  return {
    type: ISOLATED,
    status: verdict,
    reason: reason satisfies ReasonOf<'Isolated'>,
    message: `${message}${counterexample ? exampleOf(counterexample) : ''}`,
  };
}

function exampleOf({ request, before, after }: Counterexample): string {
  const difference = differenceText(before, after);
  return `${difference === undefined ? '' : `: ${difference}`}; try: ${explainLine(request)}`;
}
