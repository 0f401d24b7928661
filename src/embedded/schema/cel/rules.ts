// Evaluates the x-kubernetes-validations of a schema for an object, on create and update.
import { Optional } from '@marcbachmann/cel-js';
import { isDeepStrictEqual } from 'node:util';
import type { FieldError, FieldErrorType } from '../field-error.ts';
import { correlation } from '../list-keys.ts';
import { propertySchema } from '../property.ts';
import type { Schema, ValidationRule } from '../types.ts';
import { type CompiledRule, compileRules } from './compile.ts';
import { interruptible, isInterruption, usedMs } from './interruptible.ts';
import { describe } from './problems.ts';
import { toCel } from './values.ts';

/** The CPU time for all rules of one object; other requests wait meanwhile. */
const budgetMs = 100;
/** A rule whose loops could run more often than this is interrupted when the budget is used up. */
const interruptibleSteps = 50_000;
/** So is a rule with patterns, which may backtrack for very long: see ../regex.ts. */
const usesPatterns = /\.(matches|find|findAll)\(/;
/** A rule whose loops could run more often than this is not evaluated. */
const stepLimit = 20_000_000;

const reasons: Readonly<Record<string, FieldErrorType>> = {
  FieldValueRequired: 'Required',
  FieldValueForbidden: 'Forbidden',
  FieldValueDuplicate: 'Duplicate',
};

class OutOfBudget extends Error {}

/** The errors of all rules that fail. Transition rules are evaluated only where there is an old value. */
export function checkRules(schema: Schema, object: unknown, old?: unknown): FieldError[] {
  if (!hasRules(schema)) return [];
  const errors: FieldError[] = [];
  const endMs = usedMs() + budgetMs;

  function visit(node: Schema, value: unknown, before: unknown, path: string, unchanged: boolean): void {
    if (value === null || value === undefined || !hasRules(node)) return;
    const same = unchanged || (before !== undefined && isDeepStrictEqual(value, before));
    const isResource = path === '' || node['x-kubernetes-embedded-resource'] === true;
    const { rules, problems } = compileRules(node, isResource);
    for (const problem of problems) {
      errors.push(failure(node, path, `rule compile error: ${problem.text}`));
    }
    if (rules.length > 0) runRules(node, rules, value, before, path, same, isResource);
    for (const part of node.allOf ?? []) visit(part, value, before, path, same);
    visitChildren(node, value, before, path, same);
  }

  function visitChildren(node: Schema, value: unknown, before: unknown, path: string, same: boolean): void {
    if (Array.isArray(value)) {
      if (node.items === undefined) return;
      const oldItem = correlation(node, before);
      for (const [index, item] of value.entries()) {
        visit(node.items, item, oldItem(item), `${path}[${index}]`, same);
      }
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const others = typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
    for (const [key, item] of Object.entries(value)) {
      const field = propertySchema(node, key);
      const child = field ?? others;
      const childPath = field === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      const oldItem = (before as Record<string, unknown> | undefined)?.[key];
      if (child !== undefined) visit(child, item, oldItem ?? undefined, childPath, same);
    }
  }

  function runRules(
    node: Schema,
    rules: readonly CompiledRule[],
    value: unknown,
    before: unknown,
    path: string,
    same: boolean,
    isResource: boolean,
  ): void {
    const self = toCel(node, value, isResource);
    const oldSelf = before === undefined ? undefined : toCel(node, before, isResource).value;
    for (const compiled of rules) {
      const { rule } = compiled;
      if (compiled.usesOldSelf && oldSelf === undefined && rule.optionalOldSelf !== true) continue;
      const steps = self.size ** compiled.loopDepth;
      const leftMs = endMs - usedMs();
      const stop = (): never => {
        const text = 'validation failed due to running out of cost budget, no further validation rules will be run';
        errors.push(failure(node, path, text));
        throw new OutOfBudget();
      };
      if (leftMs <= 0 || steps > stepLimit) stop();
      const optional = oldSelf === undefined ? Optional.none() : Optional.of(oldSelf);
      const context = { self: self.value, oldSelf: rule.optionalOldSelf === true ? optional : oldSelf };
      let holds: unknown;
      try {
        const evaluate = (): unknown => compiled.evaluate(context);
        const mayTakeLong = steps > interruptibleSteps || usesPatterns.test(rule.rule);
        holds = mayTakeLong ? interruptible(leftMs, evaluate) : evaluate();
      } catch (error) {
        if (isInterruption(error)) stop();
        errors.push(failure(node, path, `${describe(error)} evaluating rule: ${ruleName(rule)}`));
        continue;
      }
      // Failures for unchanged values are ignored on update, except those of transition rules.
      if (holds === true || (same && !compiled.usesOldSelf)) continue;
      errors.push(failedRule(node, compiled, value, context, path));
    }
  }

  try {
    visit(schema, object, old, '', false);
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
  }
  return errors;
}

function failure(node: Schema, path: string, detail: string): FieldError {
  return { type: 'Invalid', field: path === '' ? '<nil>' : path, value: node.type ?? '', detail };
}

function ruleName(rule: ValidationRule): string {
  return (rule.message ?? '').trim() || rule.rule.trim();
}

function failedRule(
  node: Schema,
  compiled: CompiledRule,
  value: unknown,
  context: Record<string, unknown>,
  path: string,
): FieldError {
  const { rule } = compiled;
  const detail = messageOf(compiled, context) ?? ((rule.message ?? '').trim() || `failed rule: ${rule.rule.trim()}`);
  const field = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`.replace(/^\./, '');
  const showsValue = node.type !== 'object' && node.type !== 'array';
  return {
    type: reasons[rule.reason ?? ''] ?? 'Invalid',
    field: field === '' ? '<nil>' : field,
    ...(showsValue && { value }),
    detail,
  };
}

/** The result of the message expression, if it is a single non-empty line. */
function messageOf(compiled: CompiledRule, context: Record<string, unknown>): string | undefined {
  if (compiled.message === undefined) return undefined;
  try {
    const text = compiled.message(context);
    if (typeof text !== 'string' || text.trim() === '' || text.includes('\n')) return undefined;
    return text.trim();
  } catch {
    // Like the real server, use the fixed message.
    return undefined;
  }
}

const ruleCache = new WeakMap<Schema, boolean>();

/** Whether this schema or one inside it has rules. */
export function hasRules(schema: Schema): boolean {
  const known = ruleCache.get(schema);
  if (known !== undefined) return known;
  ruleCache.set(schema, false);
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...(schema.allOf ?? []),
  ];
  const result = (schema['x-kubernetes-validations']?.length ?? 0) > 0 || below.some(hasRules);
  ruleCache.set(schema, result);
  return result;
}
