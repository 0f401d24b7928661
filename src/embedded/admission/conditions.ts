// Whether the match conditions of a webhook, expressions over a write, let it be asked.
import type { AdmissionRequest } from '../rest/context.ts';
import type { Resource } from '../resource.ts';
import { compileCondition } from '../schema/cel/conditions.ts';
import { describe } from '../schema/cel/problems.ts';
import { dynamicCel } from '../schema/cel/values.ts';
import { admissionRequestOf } from './call.ts';
import type { Webhook } from './match.ts';

export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** Do all conditions hold? One that does not decides; otherwise the first that cannot be answered is thrown. */
export function conditionsHold(webhook: Webhook, request: AdmissionRequest, seenAs: Resource): boolean {
  const { matchConditions = [] } = webhook;
  if (matchConditions.length === 0) return true;
  const { object, oldObject, ...rest } = admissionRequestOf(request, seenAs);
  const context = { object: dynamicCel(object), oldObject: dynamicCel(oldObject), request: dynamicCel(rest) };
  let failed: Error | undefined;
  for (const { expression } of matchConditions) {
    const condition = compileCondition(expression);
    try {
      if (typeof condition === 'string') throw new Error(condition);
      if (condition.evaluate(context) !== true) return false;
    } catch (error) {
      failed ??= new Error(`expression '${expression}' resulted in error: ${describe(error)}`, { cause: error });
    }
  }
  if (failed !== undefined) throw failed;
  return true;
}
