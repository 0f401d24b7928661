// Inspects the syntax tree of an expression: the nesting of loops, and problems that the type check does not find.
import type { ASTNode } from '@marcbachmann/cel-js';
import { re2 } from '../regex.ts';
import type { Schema } from '../types.ts';
import type { Variable } from './environment.ts';
import { failure, reportedPosition, undeclared } from './problems.ts';
import { escapeField, resourceField } from './values.ts';

const loops = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

function children(node: ASTNode): ASTNode[] {
  const { args } = node;
  if (!Array.isArray(args)) return typeof args === 'object' && args !== null && 'op' in args ? [args] : [];
  return (args as unknown[])
    .flat(2)
    .filter((item): item is ASTNode => typeof item === 'object' && item !== null && 'op' in item);
}

/** The nesting depth of loops in an expression. */
export function loopDepth(node: ASTNode): number {
  const inner = Math.max(0, ...children(node).map(loopDepth));
  return node.op === 'rcall' && loops.has(node.args[0]) ? inner + 1 : inner;
}

/** Whether an expression calls this method. */
export function calls(node: ASTNode, name: string): boolean {
  return (node.op === 'rcall' && node.args[0] === name) || children(node).some((child) => calls(child, name));
}

/** Rewrites `has(list[0].name)`, because the library only supports `has(object.name)`. */
export function withSimpleHas(ast: ASTNode, source: string): string {
  let text = source;
  const found = (node: ASTNode): readonly ASTNode[] => [node, ...children(node).flatMap(found)];
  for (const node of found(ast).toSorted((one, other) => other.start - one.start)) {
    const field = node.op === 'call' && node.args[0] === 'has' ? node.args[1][0] : undefined;
    if (field?.op !== '.' || isPlain(field)) continue;
    const [target, name] = field.args;
    const rewritten = `${source.slice(target.start, target.end)}.?${name}.hasValue()`;
    text = `${text.slice(0, node.start)}${rewritten}${text.slice(node.end)}`;
  }
  return text;
}

/** Whether this is a variable or a path of fields from one. */
function isPlain(node: ASTNode): boolean {
  return node.op === 'id' || ((node.op === '.' || node.op === '.?') && isPlain(node.args[0]));
}

type Scope = ReadonlyMap<string, Typed>;

/** A schema, and whether it describes a whole resource. */
interface Typed {
  readonly schema: Schema;
  readonly isResource: boolean;
}

/** Reports an undefined field in `has`, an invalid pattern, or an unknown macro. */
export function partProblem(
  ast: ASTNode,
  source: string,
  variables: Readonly<Record<string, Variable>>,
): string | undefined {
  const scope = new Map<string, Typed>();
  for (const [name, variable] of Object.entries(variables)) {
    // Optional values are only accessed through methods.
    if (variable === 'dyn' || variable.optional === true) continue;
    scope.set(name, { schema: variable.schema, isResource: variable.isResource ?? false });
  }
  return problemIn(ast, source, scope);
}

function problemIn(node: ASTNode, source: string, scope: Scope): string | undefined {
  if (node.op === 'call' && node.args[0] === 'has') return hasProblem(node, node.args[1][0], source, scope);
  if (node.op === 'rcall') {
    const [name, target, values] = node.args;
    if (name === 'bind' && target.op === 'id' && target.args === 'cel') {
      return failure(undeclared('cel'), source, target.start);
    }
    const [first] = values;
    if (name === 'matches' && first?.op === 'value' && !isPattern(first.args)) {
      return failure('invalid matches argument', source, first.start);
    }
    if (loops.has(name)) {
      const inner = withItem(scope, values[0], typedOf(target, scope));
      return firstProblem([
        () => problemIn(target, source, scope),
        ...values.slice(1).map((value) => () => problemIn(value, source, inner)),
      ]);
    }
  }
  return firstProblem(children(node).map((child) => () => problemIn(child, source, scope)));
}

function firstProblem(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const problem = check();
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function hasProblem(call: ASTNode, field: ASTNode | undefined, source: string, scope: Scope): string | undefined {
  if (field?.op !== '.') return undefined;
  const [target, name] = field.args;
  const object = typedOf(target, scope);
  if (object === undefined || object.schema.type !== 'object') return undefined;
  if (object.schema.additionalProperties !== undefined || fieldOf(object, name) !== undefined) return undefined;
  return failure(`undefined field '${name}'`, source, reportedPosition(call, source));
}

function isPattern(pattern: unknown): boolean {
  try {
    re2(String(pattern));
    return true;
  } catch {
    return false;
  }
}

/** The variables inside a loop. */
function withItem(scope: Scope, variable: ASTNode | undefined, list: Typed | undefined): Scope {
  const inner = new Map(scope);
  if (variable?.op !== 'id') return inner;
  const item = list?.schema.items;
  if (item === undefined) inner.delete(variable.args);
  else inner.set(variable.args, { schema: item, isResource: false });
  return inner;
}

/** The schema of the value of an expression; undefined when it is unknown. */
function typedOf(node: ASTNode, scope: Scope): Typed | undefined {
  if (node.op === 'id') return scope.get(node.args);
  if (node.op === '[]') {
    const list = typedOf(node.args[0], scope)?.schema;
    const item =
      list?.items ?? (typeof list?.additionalProperties === 'object' ? list.additionalProperties : undefined);
    return item === undefined ? undefined : { schema: item, isResource: false };
  }
  if (node.op !== '.') return undefined;
  const object = typedOf(node.args[0], scope);
  return object === undefined ? undefined : fieldOf(object, node.args[1]);
}

function fieldOf({ schema, isResource }: Typed, name: string): Typed | undefined {
  const common = isResource || schema['x-kubernetes-embedded-resource'] === true ? resourceField(name) : undefined;
  if (common !== undefined) return { schema: common, isResource: false };
  const found = Object.entries(schema.properties ?? {}).find(([key]) => escapeField(key) === name)?.[1];
  const child = found ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  return child === undefined ? undefined : { schema: child, isResource: false };
}
