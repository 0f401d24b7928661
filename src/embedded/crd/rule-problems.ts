// What is wrong with the CEL rules of a schema, before any of them runs.
import { compileRules } from '../schema/cel/compile.ts';
import { type FieldError, invalid, notSupported, required } from '../schema/field-error.ts';
import type { Schema, ValidationRule } from '../schema/types.ts';

/** Compiles every rule. `uncorrelated` is the place above which old and new items cannot be matched. */
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
    const place = `${path}.x-kubernetes-validations[${index}]`;
    errors.push(...ruleErrors(rule, schema, place));
    if (rule.rule.trim() === '') errors.push(required(`${place}.rule`, 'rule is not specified'));
    else if (uncorrelated !== undefined && /\boldSelf\b/.test(rule.rule) && rule.optionalOldSelf !== true) {
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
      errors.push(invalid(`${place}.rule`, rule.rule, text));
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

/** What is wrong with a rule apart from its expressions. */
function ruleErrors(rule: ValidationRule, schema: Schema, place: string): FieldError[] {
  const { message, reason, fieldPath } = rule;
  const errors: FieldError[] = [];
  if (message !== undefined && message !== '' && message.trim() === '') {
    errors.push(invalid(`${place}.message`, message, 'message must be non-empty if specified'));
  } else if (message?.trim().includes('\n') === true) {
    errors.push(invalid(`${place}.message`, message, 'must not contain line breaks'));
  } else if ((message ?? '') === '' && rule.rule.trim().includes('\n')) {
    errors.push(required(`${place}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(notSupported(`${place}.reason`, reason, reasons));
  }
  if (fieldPath !== undefined && !leadsSomewhere(fieldPath, schema)) {
    errors.push(invalid(`${place}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

/** Does a path such as `.spec.labels['a']` name a field that the schema has? */
function leadsSomewhere(path: string, schema: Schema): boolean {
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

/** A rule as the server shows it: every field, under the names of its own types. */
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
