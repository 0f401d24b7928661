// Compiles the rules of a schema: syntax, functions and the fields they name are checked once, when the definition is
// created; the result is kept as long as the schema lives.
import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import type { Schema, ValidationRule } from '../types.ts';
import { registerCollections } from './collections.ts';
import { registerNetwork } from './network.ts';
import { escapeField, resourceField } from './values.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly usesOldSelf: boolean;
  readonly evaluate: (context: Record<string, unknown>) => unknown;
  readonly message?: (context: Record<string, unknown>) => unknown;
  /** How deep its loops nest: a guard against rules that would take forever on large objects. */
  readonly loopDepth: number;
}

/** Why a rule cannot be used. `part` is the field of the rule that is wrong. */
export interface RuleProblem {
  readonly index: number;
  readonly part: 'rule' | 'messageExpression';
  readonly text: string;
}

let shared: Environment | undefined;

function environment(): Environment {
  if (shared === undefined) {
    shared = new Environment({
      enableOptionalTypes: true,
      homogeneousAggregateLiterals: false,
      limits: { maxAstNodes: 20_000, maxDepth: 200, maxListElements: 2000, maxMapEntries: 2000, maxCallArguments: 32 },
    });
    shared.registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');
    registerCollections(shared);
    registerNetwork(shared);
  }
  return shared;
}

/** RE2 flags at the start of a literal pattern, in the form that the JavaScript engine takes. */
function withScopedFlags(expression: string): string {
  return expression.replaceAll(/(['"])\(\?([ims]+)\)((?:(?!\1).)*)\1/g, '$1(?$2:$3)$1');
}

interface Parsed {
  readonly evaluate: (context: Record<string, unknown>) => unknown;
  readonly ast: ASTNode;
}

function failure(text: string, expression: string, position: number): string {
  const before = expression.slice(0, position);
  const line = before.split('\n').length;
  const column = position - (before.lastIndexOf('\n') + 1);
  const source = expression.split('\n')[line - 1] ?? '';
  return `compilation failed: ERROR: <input>:${line}:${column + 1}: ${text}\n | ${source}\n | ${'.'.repeat(column)}^`;
}

/** Parses and checks one expression; the text of what is wrong when it cannot be used. */
function parse(expression: string, schema: Schema, isResource: boolean, types: readonly string[]): Parsed | string {
  const source = withScopedFlags(expression);
  try {
    const parsed = environment().parse(source);
    const { valid, type = 'dyn', error } = parsed.check();
    if (!valid) return failure(describe(error), source, positionOf(error));
    if (type !== 'dyn' && !types.includes(type)) return `cel expression must evaluate to a ${types[0]}`;
    const { unknown, result } = followFields(parsed.ast, schema, isResource);
    if (unknown !== undefined) return failure(`undefined field '${unknown.name}'`, source, unknown.position);
    if (result?.type !== undefined && !types.includes(celTypes[result.type] ?? '')) {
      return `cel expression must evaluate to a ${types[0]}`;
    }
    return { evaluate: (context) => parsed(context) as unknown, ast: parsed.ast };
  } catch (error) {
    return failure(describe(error), source, positionOf(error));
  }
}

/** What went wrong, without the excerpt of the source that the library adds. */
export function describe(error: unknown): string {
  const { summary, code } = error as { summary?: string; code?: string };
  const text = summary ?? (error instanceof Error ? error.message : String(error));
  if (code === 'unexpected_token') return `Syntax error: ${text}`;
  if (code === 'unknown_variable')
    return `undeclared reference to '${text.replace('Unknown variable: ', '')}' (in container '')`;
  const call = /^found no matching overload for '(?:.*\.)?(\w+)\(/.exec(text)?.[1];
  if (call !== undefined && !knownFunctions().has(call)) return `undeclared reference to '${call}' (in container '')`;
  return text
    .replace(/^No such key: index out of bounds, index (-?\d+).*$/, 'index out of bounds: $1')
    .replace(/^No such key/, 'no such key');
}

let functionNames: ReadonlySet<string> | undefined;

function knownFunctions(): ReadonlySet<string> {
  functionNames ??= new Set(
    environment()
      .getDefinitions()
      .functions.map(({ name }) => name),
  );
  return functionNames;
}

function positionOf(error: unknown): number {
  return (error as { node?: { pos?: number } }).node?.pos ?? 0;
}

const loops = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

function children(node: ASTNode): ASTNode[] {
  const { args } = node;
  if (!Array.isArray(args)) return typeof args === 'object' && args !== null && 'op' in args ? [args] : [];
  return (args as unknown[])
    .flat(2)
    .filter((item): item is ASTNode => typeof item === 'object' && item !== null && 'op' in item);
}

function loopDepth(node: ASTNode): number {
  const inner = Math.max(0, ...children(node).map(loopDepth));
  return node.op === 'rcall' && loops.has(node.args[0]) ? inner + 1 : inner;
}

interface UnknownField {
  readonly name: string;
  readonly position: number;
}

const celTypes: Readonly<Record<string, string>> = { boolean: 'bool', string: 'string' };

/**
 * The first field that a rule names but the schema does not have, and the schema of what the rule gives when that is
 * a field. Where the type is not certain, anything goes.
 */
function followFields(
  ast: ASTNode,
  schema: Schema,
  isResource: boolean,
): { readonly unknown?: UnknownField; readonly result?: Schema } {
  let found: UnknownField | undefined;

  function visit(node: ASTNode, scope: ReadonlyMap<string, Schema>): Schema | undefined {
    if (node.op === 'id') return scope.get(node.args);
    if (node.op === '.') return field(node.args[0], node.args[1], node.pos, scope);
    if (node.op === '[]') {
      const list = visit(node.args[0], scope);
      visit(node.args[1], scope);
      return list?.items ?? (typeof list?.additionalProperties === 'object' ? list.additionalProperties : undefined);
    }
    if (node.op === 'rcall' && loops.has(node.args[0])) {
      const target = visit(node.args[1], scope);
      const [variable, ...body] = node.args[2];
      const inner = new Map(scope);
      if (variable?.op === 'id') {
        if (target?.items === undefined) inner.delete(variable.args);
        else inner.set(variable.args, target.items);
      }
      for (const part of body) visit(part, inner);
      return undefined;
    }
    // A bound variable may hide one of the rule's own.
    if (node.op === 'rcall' && node.args[0] === 'bind') return undefined;
    for (const child of children(node)) visit(child, scope);
    return undefined;
  }

  function field(
    target: ASTNode,
    name: string,
    position: number,
    scope: ReadonlyMap<string, Schema>,
  ): Schema | undefined {
    const object = visit(target, scope);
    if (object === undefined || object.type !== 'object') return undefined;
    const isRoot = isResource && object === schema;
    for (const [key, child] of Object.entries(object.properties ?? {})) {
      if (escapeField(key) === name) return isRoot ? (resourceField(key) ?? child) : child;
    }
    if (isRoot || object['x-kubernetes-embedded-resource'] === true) {
      const common = resourceField(name);
      if (common !== undefined) return common;
    }
    if (typeof object.additionalProperties === 'object') return object.additionalProperties;
    if (object.additionalProperties === undefined) found ??= { name, position: Math.max(0, position - 1) };
    return undefined;
  }

  // An optional oldSelf is read through its own functions, which the checker knows.
  const result = visit(ast, new Map([['self', schema]]));
  return { ...(found !== undefined && { unknown: found }), ...(result !== undefined && { result }) };
}

const compiled = new WeakMap<Schema, { rules: readonly CompiledRule[]; problems: readonly RuleProblem[] }>();

/** The rules of one schema node, ready to run, and what is wrong with the others. */
export function compileRules(
  schema: Schema,
  isResource: boolean,
): { readonly rules: readonly CompiledRule[]; readonly problems: readonly RuleProblem[] } {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const rules: CompiledRule[] = [];
  const problems: RuleProblem[] = [];
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const parsed = parse(rule.rule, schema, isResource, ['bool']);
    if (typeof parsed === 'string') {
      problems.push({ index, part: 'rule', text: parsed });
      continue;
    }
    const message =
      rule.messageExpression === undefined ? undefined : parse(rule.messageExpression, schema, isResource, ['string']);
    if (typeof message === 'string') {
      problems.push({
        index,
        part: 'messageExpression',
        text: message.replace(/^compilation/, 'messageExpression compilation'),
      });
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
