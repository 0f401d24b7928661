// Formats problems of an expression like the API server, with their position.
import type { ASTNode, Environment } from '@marcbachmann/cel-js';

interface CheckError {
  readonly code?: string;
  readonly summary?: string;
  readonly node?: { readonly pos?: number };
}

/** `compilation failed: …`: the message, and the line of the source with a mark under the position. */
export function failure(text: string, source: string, position: number): string {
  const before = source.slice(0, position);
  const line = before.split('\n').length;
  const column = position - (before.lastIndexOf('\n') + 1);
  const shown = source.split('\n')[line - 1] ?? '';
  return `compilation failed: ERROR: <input>:${line}:${column + 1}: ${text}\n | ${shown}\n | ${'.'.repeat(column)}^`;
}

const anything =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The error message, without the source excerpt that the library adds. */
export function describe(error: unknown): string {
  const { summary, code } = error as CheckError;
  const text = summary ?? (error instanceof Error ? error.message : String(error));
  if (text === 'Unexpected token: EOF') return `Syntax error: mismatched input '<EOF>' expecting ${anything}`;
  if (text === 'Expected RPAREN, got EOF') return `Syntax error: missing ')' at '<EOF>'`;
  if (code === 'unexpected_token') return `Syntax error: ${text}`;
  if (code === 'unknown_variable') return undeclared(text.replace('Unknown variable: ', ''));
  return text
    .replace(/^No such key: index out of bounds, index (-?\d+).*$/, 'index out of bounds: $1')
    .replace(/^No such key/, 'no such key');
}

export function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

/** Formats a type error; undefined for one that the API server does not report. */
export function typeProblem(error: unknown, source: string, environment: Environment): string | undefined {
  const { code = '', summary = '' } = error as CheckError;
  const node = (error as { node?: ASTNode }).node;
  if (node === undefined) return undefined;
  const typeAt = (part: ASTNode): string => typeOfPart(part, source, environment);
  const overload = (name: string, types: string, at = reportedPosition(node, source)): string =>
    failure(`found no matching overload for '${name}' applied to '${written(types)}'`, source, at);
  switch (code) {
    case 'no_such_overload': {
      const found = /^no such overload: (?:([!-])(.+)|(.+) (\S+) (.+))$/.exec(summary);
      if (found === null) return undefined;
      const [, unary, operand = '', left = '', operator = '', right = ''] = found;
      if (unary !== undefined) return overload(`${unary}_`, `(${operand})`);
      return overload(operator === 'in' ? '@in' : `_${operator}_`, `(${left}, ${right})`);
    }
    case 'no_matching_overload': {
      const found = /^found no matching overload for '(?:(.*)\.)?(\w+)\((.*)\)'$/.exec(summary);
      if (found === null) return undefined;
      const [, receiver, name = '', types = ''] = found;
      if (!knownFunctions(environment).has(name))
        return failure(undeclared(name), source, reportedPosition(node, source));
      return overload(name, receiver === undefined ? `(${types})` : `${receiver}.(${types})`);
    }
    case 'invalid_logical_operand': {
      const wrong = (node.args as readonly ASTNode[]).find((part) => !['bool', 'dyn'].includes(typeAt(part)));
      const type = /got '(.*)'/.exec(summary)?.[1] ?? 'dyn';
      return failure(
        `expected type 'bool' but found '${written(type)}'`,
        source,
        reportedPosition(wrong ?? node, source),
      );
    }
    case 'invalid_condition_type': {
      const type = /got '(.*)'/.exec(summary)?.[1] ?? 'dyn';
      return overload('_?_:_', `(${type}, dyn, dyn)`, source.indexOf('?', node.end));
    }
    case 'invalid_index_type':
    case 'cannot_index_type': {
      if (node.op === '[]') return overload('_[_]', `(${typeAt(node.args[0])}, ${typeAt(node.args[1])})`);
      const type = /type '(.*)'/.exec(summary)?.[1] ?? 'dyn';
      return failure(
        `type '${written(type)}' does not support field selection`,
        source,
        reportedPosition(node, source),
      );
    }
    case 'no_such_key':
      return failure(
        `undefined field '${summary.replace('No such key: ', '')}'`,
        source,
        reportedPosition(node, source),
      );
    case 'invalid_comprehension_range':
      return failure(lowerFirst(summary).replace(/\.$/, ''), source, reportedPosition(node, source));
    case 'heterogeneous_list_element':
    case 'heterogeneous_map_value':
      return failure(summary.replace(/^.*, (?=expected type)/, ''), source, reportedPosition(node, source));
    default:
      return undefined;
  }
}

/** `list(string)`: a type as the API server formats it. */
function written(type: string): string {
  return type
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll('optional<', 'optional_type<')
    .replaceAll('<', '(')
    .replaceAll('>', ')');
}

/** The type of a part, checked on its own. */
function typeOfPart(part: ASTNode, source: string, environment: Environment): string {
  return environment.check(source.slice(part.start, part.end)).type ?? 'dyn';
}

const fromStart = new Set<ASTNode['op']>(['value', 'id', 'list', 'map', '!_', '-_']);

/** The position that the API server reports for a part: its dot, bracket, parenthesis or operator. */
export function reportedPosition(node: ASTNode, source: string): number {
  if (fromStart.has(node.op)) return node.start;
  if (node.op === 'call') return source.indexOf('(', node.start);
  if (node.op === 'rcall') return source.indexOf('(', source.indexOf(node.args[0], node.args[1].end));
  const [first] = node.args as readonly ASTNode[];
  // The first character of `.?`, `[]`, `[?]` and `?:` is the one after their first operand.
  const sign = /^[.[?]/.exec(node.op)?.[0] ?? node.op;
  return source.indexOf(sign, first?.end);
}

const functions = new WeakMap<Environment, ReadonlySet<string>>();

function knownFunctions(environment: Environment): ReadonlySet<string> {
  let names = functions.get(environment);
  if (names === undefined) {
    names = new Set(environment.getDefinitions().functions.map(({ name }) => name));
    functions.set(environment, names);
  }
  return names;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
