// Evaluates the match conditions of a webhook: CEL expressions that decide whether it is called.
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

/** True when all conditions are true. If none is false, throws the first evaluation error. */
export function conditionsHold(webhook: Webhook, request: AdmissionRequest, resource: Resource): boolean {
  const { matchConditions = [] } = webhook;
  if (matchConditions.length === 0) return true;
  const { object, oldObject, ...rest } = admissionRequestOf(request, resource);
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
