// Compiles and caches the match conditions of webhooks.
import type { Schema } from '../types.ts';
import { compileExpression } from './compile.ts';
import type { Expression } from './compile.ts';

const text: Schema = { type: 'string' };
const textFields = (...names: readonly string[]): Schema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const kind = textFields('group', 'version', 'kind');
const resource = textFields('group', 'version', 'resource');

/** The fields of the variable `request`. */
const requestSchema: Schema = {
  type: 'object',
  properties: {
    kind,
    resource,
    subResource: text,
    requestKind: kind,
    requestResource: resource,
    requestSubResource: text,
    name: text,
    namespace: text,
    operation: text,
    userInfo: {
      type: 'object',
      properties: {
        username: text,
        uid: text,
        groups: { type: 'array', items: text },
        extra: { type: 'object', additionalProperties: { type: 'array', items: text } },
      },
    },
    dryRun: { type: 'boolean' },
    options: { 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const variables = { object: 'dyn', oldObject: 'dyn', request: { schema: requestSchema } } as const;

const compiled = new Map<string, Expression | string>();
const maxCached = 1000;

/** Compiles an expression; returns an error message when it is invalid. */
export function compileCondition(expression: string): Expression | string {
  let known = compiled.get(expression);
  if (known === undefined) {
    if (compiled.size >= maxCached) compiled.clear();
    known = compileExpression(expression, variables);
    if (typeof known !== 'string' && known.type !== 'bool' && known.type !== 'dyn') {
      known = `must evaluate to bool but got ${known.type}`;
    }
    compiled.set(expression, known);
  }
  return known;
}

const valid = new Set<string>();

/** Accepts these expressions without compiling them, which takes long the first time. */
export function trustConditions(expressions: readonly string[]): void {
  for (const expression of expressions) valid.add(expression);
}

/** Why an expression is invalid, if it is. */
export function conditionProblem(expression: string): string | undefined {
  const problem = valid.has(expression) ? undefined : compileCondition(expression);
  return typeof problem === 'string' ? problem : undefined;
}
