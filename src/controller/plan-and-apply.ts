// Plan, apply, and if the server refuses a step, plan again with that knowledge. So a refusal stops only what depends
// on it, which the plan decides. The core of a reconcile.
import { StepFailed } from '../kube/write/apply.ts';
import type { Outcome } from '../kube/write/apply.ts';
import { isTransient } from '../kube/errors.ts';
import { identityOf } from '../kube/objects.ts';
import { objectOf } from '../kube/write/steps.ts';
import type { Step } from '../kube/write/steps.ts';
import type { Plan } from './definition.ts';
import type { Refusal } from './view.ts';

export interface Applied {
  /** The plan that was carried out completely. */
  readonly plan: Plan;
  readonly outcomes: readonly Outcome[];
  /** Steps that the server refused and that the last plan left out. */
  readonly refused: readonly StepFailed[];
}

/**
 * Plans and applies until the server refuses nothing more. If a plan repeats a refused step, the reconcile fails as a
 * whole.
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

/** The identity of the object of a step. */
function targetOf(step: Step): string {
  return identityOf(step.kind, objectOf(step).metadata);
}

/** Whether only this one write failed, for instance because an admission webhook could not be called. */
export function isRefusal(error: unknown): error is StepFailed {
  return error instanceof StepFailed && (!isTransient(error.cause) || error.cause.code === 500);
}

/** The message of the server, without our request. */
export function refusalText({ cause }: StepFailed): string {
  return cause.status?.message ?? cause.message;
}
