// Validates the CEL rules of a schema.
import { compileRules } from '../schema/cel/compile.ts';
import { type FieldError, invalid, notSupported, required } from '../schema/field-error.ts';
import type { Schema, ValidationRule } from '../schema/types.ts';

/** Compiles all rules. `uncorrelated` is the path below which old and new values cannot be matched. */
export function checkRulesCompile(
  schema: Schema,
  path: string,
  isRoot: boolean,
  uncorrelated: string | undefined,
  errors: FieldError[],
): void {
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true;
  const rules = schema['x-kubernetes-validations'] ?? [];
  for (const [index, rule] of rules.entries()) {
    const rulePath = `${path}.x-kubernetes-validations[${index}]`;
    errors.push(...ruleErrors(rule, schema, rulePath));
    if (rule.rule.trim() === '') errors.push(required(`${rulePath}.rule`, 'rule is not specified'));
    else if (uncorrelated !== undefined && /\boldSelf\b/.test(rule.rule) && rule.optionalOldSelf !== true) {
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push(invalid(`${rulePath}.rule`, rule.rule, text));
    }
  }
  for (const { index, part, text } of compileRules(schema, isResource).problems) {
    if (rules[index]!.rule.trim() === '') continue;
    errors.push(invalid(`${path}.x-kubernetes-validations[${index}].${part}`, shownRule(rules[index]!), text));
  }
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const blocked = uncorrelated ?? (schema['x-kubernetes-map-type'] === 'atomic' ? path : undefined);
    checkRulesCompile(child, `${path}.properties[${key}]`, false, blocked, errors);
  }
  if (schema.items !== undefined) {
    const blocked = uncorrelated ?? (schema['x-kubernetes-list-type'] === 'map' ? undefined : path);
    checkRulesCompile(schema.items, `${path}.items`, false, blocked, errors);
  }
  if (typeof schema.additionalProperties === 'object') {
    checkRulesCompile(schema.additionalProperties, `${path}.additionalProperties`, false, uncorrelated, errors);
  }
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** The errors of a rule apart from its expressions. */
function ruleErrors(rule: ValidationRule, schema: Schema, rulePath: string): FieldError[] {
  const { message, reason, fieldPath } = rule;
  const errors: FieldError[] = [];
  if (message !== undefined && message !== '' && message.trim() === '') {
    errors.push(invalid(`${rulePath}.message`, message, 'message must be non-empty if specified'));
  } else if (message?.trim().includes('\n') === true) {
    errors.push(invalid(`${rulePath}.message`, message, 'must not contain line breaks'));
  } else if ((message ?? '') === '' && rule.rule.trim().includes('\n')) {
    errors.push(required(`${rulePath}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(`${rulePath}.reason`, reason, reasons));
  }
  if (fieldPath !== undefined && !isFieldPath(fieldPath, schema)) {
    errors.push(invalid(`${rulePath}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

/** Whether a path such as `.spec.labels['a']` is a field of the schema. */
function isFieldPath(path: string, schema: Schema): boolean {
  let node: Schema | undefined = schema;
  let rest = path;
  while (node !== undefined && rest !== '') {
    const [whole = '', name, quoted] = /^(?:\.([\w$-]+)|\['((?:[^'\\]|\\.)+)'\])/.exec(rest) ?? [];
    if (whole === '') return false;
    const others: Schema['additionalProperties'] = node.additionalProperties;
    node = node.properties?.[name ?? quoted ?? ''] ?? (typeof others === 'object' ? others : undefined);
    rest = rest.slice(whole.length);
  }
  return node !== undefined;
}

/** A rule as in messages of the API server: all fields, with their Go names. */
function shownRule(rule: ValidationRule): Readonly<Record<string, unknown>> {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
