// Plan, apply, and where the server refuses a step, plan again knowing that. So a refusal ends only what depends on it,
// and it is the plan that knows what does. The core of a reconcile.
import { StepFailed } from '../kube/write/apply.ts';
import type { Outcome } from '../kube/write/apply.ts';
import { isTransient } from '../kube/errors.ts';
import { identityOf } from '../kube/objects.ts';
import { objectOf } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { Plan } from './definition.ts';
import type { Refusal } from './view.ts';

export interface Applied {
  /** The plan that was carried out to its end. */
  readonly plan: Plan;
  readonly outcomes: readonly Outcome[];
  /** Steps that the server refused and the plan did without. */
  readonly refused: readonly StepFailed[];
}

/**
 * Plans and applies until the server refuses nothing more. A plan that asks again for what was refused has no answer to
 * it: then the reconcile fails as a whole.
 */
export async function planAndApply(
  makePlan: (refusal: Refusal) => Plan,
  apply: (steps: readonly Step[]) => Promise<readonly Outcome[]>,
): Promise<Applied> {
  const refused = new Map<string, StepFailed>();
  const outcomes: Outcome[] = [];
  for (;;) {
    const plan = makePlan((kind, ref) => {
      const refusal = refused.get(identityOf(kind, ref));
      return refusal && refusalText(refusal);
    });
    const steps = plan.steps ?? [];
    const again = steps.find((step) => refused.has(targetOf(step)));
    if (again !== undefined) throw refused.get(targetOf(again))!;
    try {
      outcomes.push(...(await apply(steps)));
      return { plan, outcomes, refused: [...refused.values()] };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.set(targetOf(error.step), error);
      outcomes.push(...error.done);
    }
  }
}

/** What a step is about. */
function targetOf(step: Step): string {
  return identityOf(step.kind, objectOf(step).metadata);
}

/** Whether it is this one write that failed: also one that the server could not ask a webhook about. */
export function isRefusal(error: unknown): error is StepFailed {
  return error instanceof StepFailed && (!isTransient(error.cause) || error.cause.code === 500);
}

/** What the server said, without the words in which we asked it. */
export function refusalText({ cause }: StepFailed): string {
  return cause.status?.message ?? cause.message;
}
