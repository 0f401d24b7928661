// The match conditions of webhooks: what they may speak of, compiled once each.
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

/** What an expression may say of the request. */
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
const most = 1000;

/** An expression that can be asked; the text of what is wrong with it otherwise. */
export function compileCondition(expression: string): Expression | string {
  let known = compiled.get(expression);
  if (known === undefined) {
    if (compiled.size >= most) compiled.clear();
    known = compileExpression(expression, variables);
    if (typeof known !== 'string' && known.type !== 'bool' && known.type !== 'dyn') {
      known = `must evaluate to bool but got ${known.type}`;
    }
    compiled.set(expression, known);
  }
  return known;
}
