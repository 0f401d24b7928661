// Compiles CEL expressions: the rules of a schema, and any expression with given variables. Syntax, functions, fields
// and types are checked once, when the definition is created; the result is cached as long as the schema exists.
import type { ASTNode } from '@marcbachmann/cel-js';
import type { Schema, ValidationRule } from '../types.ts';
import { checkingEnvironment, runningEnvironment } from './environment.ts';
import type { Variable } from './environment.ts';
import { calls, loopDepth, partProblem, withSimpleHas } from './parts.ts';
import { describe, failure, typeProblem } from './problems.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly usesOldSelf: boolean;
  readonly evaluate: (context: Record<string, unknown>) => unknown;
  readonly message?: (context: Record<string, unknown>) => unknown;
  /** The nesting depth of loops, to stop rules that would take too long on large objects. */
  readonly loopDepth: number;
}

/** Why a rule does not compile. `part` is the invalid field of the rule. */
export interface RuleProblem {
  readonly index: number;
  readonly part: 'rule' | 'messageExpression';
  readonly text: string;
}

/** Rewrites RE2 flags at the start of literal patterns into the syntax of the JavaScript engine. */
function withScopedFlags(expression: string): string {
  return expression.replaceAll(/(['"])\(\?([ims]+)\)((?:(?!\1).)*)\1/g, '$1(?$2:$3)$1');
}

export interface Expression {
  /** `dyn` if the type is known only at run time. */
  readonly type: string;
  readonly evaluate: (context: Record<string, unknown>) => unknown;
  readonly ast: ASTNode;
}

/** Parses and checks one expression; returns an error message when it is invalid. */
export function compileExpression(text: string, variables: Readonly<Record<string, Variable>>): Expression | string {
  let source = withScopedFlags(text);
  try {
    const running = runningEnvironment(Object.keys(variables));
    source = withSimpleHas(running.parse(source).ast, source);
    const parsed = running.parse(source);
    const wrong = partProblem(parsed.ast, source, variables);
    if (wrong !== undefined) return wrong;
    // The arguments of `format` may have different types.
    const environment = checkingEnvironment(variables, !calls(parsed.ast, 'format'));
    const { valid, type = 'dyn', error } = environment.check(source);
    if (valid) return { type, evaluate: (context) => parsed(context) as unknown, ast: parsed.ast };
    const problem = typeProblem(error, source, environment);
    if (problem !== undefined) return problem;
    // The API server accepts this type error, but the expression must still be valid without types.
    const loose = parsed.check();
    if (!loose.valid) return failure(describe(loose.error), source, positionOf(loose.error));
    return { type: loose.type ?? 'dyn', evaluate: (context) => parsed(context) as unknown, ast: parsed.ast };
  } catch (error) {
    return failure(describe(error), source, positionOf(error));
  }
}

function positionOf(error: unknown): number {
  return (error as { node?: { pos?: number } }).node?.pos ?? 0;
}

const compiled = new WeakMap<Schema, { rules: readonly CompiledRule[]; problems: readonly RuleProblem[] }>();

/** The compiled rules of one schema node, and the problems of those that do not compile. */
export function compileRules(
  schema: Schema,
  isResource: boolean,
): { readonly rules: readonly CompiledRule[]; readonly problems: readonly RuleProblem[] } {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const self = { schema, isResource };
  const plain = { self, oldSelf: self };
  const withOptional = { self, oldSelf: { ...self, optional: true } };
  const rules: CompiledRule[] = [];
  const problems: RuleProblem[] = [];
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const variables = rule.optionalOldSelf === true ? withOptional : plain;
    const parsed = compileTyped(rule.rule, variables, 'bool', 'cel expression');
    if (typeof parsed === 'string') {
      problems.push({ index, part: 'rule', text: parsed });
      continue;
    }
    const message =
      rule.messageExpression === undefined
        ? undefined
        : compileTyped(rule.messageExpression, variables, 'string', 'messageExpression');
    if (typeof message === 'string') {
      const text = message.replace(/^compilation/, 'messageExpression compilation');
      problems.push({ index, part: 'messageExpression', text });
      continue;
    }
    rules.push({
      rule,
      usesOldSelf: /\boldSelf\b/.test(rule.rule),
      evaluate: parsed.evaluate,
      ...(message !== undefined && { message: message.evaluate }),
      loopDepth: loopDepth(parsed.ast),
    });
  }
  const result = { rules, problems };
  compiled.set(schema, result);
  return result;
}

function compileTyped(
  text: string,
  variables: Readonly<Record<string, Variable>>,
  type: string,
  what: string,
): Expression | string {
  const compiled = compileExpression(text, variables);
  if (typeof compiled === 'string' || compiled.type === type || compiled.type === 'dyn') return compiled;
  return `${what} must evaluate to a ${type}`;
}
