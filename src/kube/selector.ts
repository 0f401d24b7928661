// Label selectors, in the string form and the object form, and field selectors: parse, match, print. The semantics are
// those of the API server, so that filtering here and there gives the same result.
import type { KubeObject } from './objects.ts';

export interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'GreaterThan' | 'LessThan';
  /** Empty for Exists and DoesNotExist; one integer for GreaterThan and LessThan. */
  readonly values: readonly string[];
}

/** All of the requirements must hold; an empty selector matches everything. */
export type Selector = readonly Requirement[];

/** The form that selectors have inside objects. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export class InvalidSelectorError extends Error {
  override readonly name = 'InvalidSelectorError';
}

interface Token {
  readonly text: string;
  /** 0-based offset in the selector. */
  readonly at: number;
}

const END = '';
const SYMBOL = /^(==|!=|[=!(),<>])$/;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** At most as many digits as a 64-bit integer has. */
const INTEGER = /^-?\d{1,19}$/;

/** Parses `a=b,c!=d,e in (x,y),!f,g,h>1`. */
export function parseSelector(text: string): Selector {
  const tokens = [...text.matchAll(/==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+/g)].map((m): Token => ({
    text: m[0],
    at: m.index,
  }));
  let position = 0;
  const peek = (): Token => tokens[position] ?? { text: END, at: text.length };
  const take = (): Token => {
    const token = peek();
    position++;
    return token;
  };
  const refuse = (token: Token, expected: string): never => {
    const found = token.text === END ? 'the end' : `"${token.text}"`;
    throw new InvalidSelectorError(
      `invalid label selector "${text}": expected ${expected} at position ${token.at + 1}, found ${found}`,
    );
  };
  const word = (expected: string): Token => {
    const token = take();
    return token.text === END || SYMBOL.test(token.text) ? refuse(token, expected) : token;
  };
  const valid = (token: Token, problem: string | undefined): string => {
    if (problem === undefined) return token.text;
    throw new InvalidSelectorError(`invalid label selector "${text}": ${problem} (position ${token.at + 1})`);
  };
  // A missing value, as in `a=` and `a in (x,)`, is the empty value.
  const value = (...ends: string[]): string => {
    if (ends.includes(peek().text)) return '';
    const token = word('a value');
    return valid(token, problemOfValue(token.text));
  };
  const list = (): string[] => {
    const open = take();
    if (open.text !== '(') refuse(open, '"("');
    const values = [value(',', ')')];
    while (peek().text === ',') {
      take();
      values.push(value(',', ')'));
    }
    const close = take();
    if (close.text !== ')') refuse(close, '"," or ")"');
    return unique(values);
  };
  const requirement = (): Requirement => {
    const absent = peek().text === '!';
    if (absent) take();
    const token = word('a label key');
    const key = valid(token, problemOfKey(token.text));
    if (absent) return { key, operator: 'DoesNotExist', values: [] };
    if (peek().text === ',' || peek().text === END) return { key, operator: 'Exists', values: [] };
    const operator = take();
    switch (operator.text) {
      case '=':
      case '==':
        return { key, operator: 'In', values: [value(',', END)] };
      case '!=':
        return { key, operator: 'NotIn', values: [value(',', END)] };
      case 'in':
        return { key, operator: 'In', values: list() };
      case 'notin':
        return { key, operator: 'NotIn', values: list() };
      case '>':
      case '<': {
        const bound = word('an integer');
        if (!INTEGER.test(bound.text)) refuse(bound, 'an integer');
        return { key, operator: operator.text === '>' ? 'GreaterThan' : 'LessThan', values: [bound.text] };
      }
      default:
        return refuse(operator, 'one of = == != in notin > < , or the end');
    }
  };

  if (peek().text === END) return [];
  const requirements = [requirement()];
  while (peek().text !== END) {
    const comma = take();
    if (comma.text !== ',') refuse(comma, '"," or the end');
    requirements.push(requirement());
  }
  return requirements;
}

/**
 * Reads the object form. An empty selector matches everything; what an absent one means differs from field to field, so
 * the caller decides that.
 */
export function selectorOf(selector: LabelSelector): Selector {
  const fail = (field: string, problem: string): never => {
    throw new InvalidSelectorError(`invalid label selector: ${field}: ${problem}`);
  };
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]): Requirement => {
    const problem = problemOfKey(key) ?? problemOfValue(value);
    if (problem !== undefined) fail(`matchLabels.${key}`, problem);
    return { key, operator: 'In', values: [value] };
  });
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }, i): Requirement => {
    const field = `matchExpressions[${i}]`;
    const problem = problemOfKey(key) ?? values.map(problemOfValue).find((found) => found !== undefined);
    if (problem !== undefined) fail(field, problem);
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) fail(`${field}.values`, `must name at least one value for operator ${operator}`);
        return { key, operator, values: unique(values) };
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) fail(`${field}.values`, `must be empty for operator ${operator}`);
        return { key, operator, values: [] };
      default:
        return fail(`${field}.operator`, `"${operator}" is not one of In, NotIn, Exists, DoesNotExist`);
    }
  });
  return [...labels, ...expressions];
}

interface Operator {
  holds(label: string | undefined, values: readonly string[]): boolean;
  print(key: string, values: readonly string[]): string;
}

const OPERATORS: Readonly<Record<Requirement['operator'], Operator>> = {
  In: {
    holds: (label, values) => label !== undefined && values.includes(label),
    print: (key, values) => (values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`),
  },
  NotIn: {
    holds: (label, values) => label === undefined || !values.includes(label),
    print: (key, values) => (values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`),
  },
  Exists: { holds: (label) => label !== undefined, print: (key) => key },
  DoesNotExist: { holds: (label) => label === undefined, print: (key) => `!${key}` },
  GreaterThan: {
    holds: (label, values) => integer(label) !== undefined && integer(label)! > BigInt(values[0]!),
    print: (key, values) => `${key}>${values[0]}`,
  },
  LessThan: {
    holds: (label, values) => integer(label) !== undefined && integer(label)! < BigInt(values[0]!),
    print: (key, values) => `${key}<${values[0]}`,
  },
};

/** Whether labels satisfy a selector. `NotIn` (and so `!=`) holds for an absent label. */
export function matches(selector: Selector, labels: Readonly<Record<string, string>> = {}): boolean {
  return selector.every(({ key, operator, values }) =>
    OPERATORS[operator].holds(Object.hasOwn(labels, key) ? labels[key] : undefined, values),
  );
}

/**
 * The same test for many objects: the cost for one grows with its own labels, and not with a selector of thousands of
 * requirements.
 */
export function labelTest(selector: Selector): (labels?: Readonly<Record<string, string>>) => boolean {
  const byKey = Map.groupBy(selector, ({ key }) => key);
  const tests = new Map([...byKey].map(([key, requirements]) => [key, valueTest(requirements)]));
  const required = [...tests].filter(([, test]) => !test(undefined)).map(([key]) => key);
  return (labels = {}) =>
    required.every((key) => Object.hasOwn(labels, key)) &&
    Object.keys(labels).every((key) => tests.get(key)?.(labels[key]) !== false);
}

/** Tests the value of one label against all of its requirements. */
function valueTest(requirements: Selector): (label: string | undefined) => boolean {
  const valuesOf = (operator: Requirement['operator']): Set<string>[] =>
    requirements.filter((each) => each.operator === operator).map(({ values }) => new Set(values));
  const allowed = valuesOf('In').reduce<Set<string> | undefined>(
    (all, next) => all?.intersection(next) ?? next,
    undefined,
  );
  const denied = new Set(valuesOf('NotIn').flatMap((values) => [...values]));
  const limit = (operator: 'GreaterThan' | 'LessThan', order: 1 | -1): readonly string[] | undefined => {
    const bounds = valuesOf(operator).flatMap((values) => [...values]);
    return bounds.length === 0
      ? undefined
      : [bounds.reduce((strictest, next) => (compareIntegers(next, strictest) === order ? next : strictest))];
  };
  const above = limit('GreaterThan', 1);
  const below = limit('LessThan', -1);
  const exists = requirements.some(({ operator }) => operator === 'Exists');
  const absent = requirements.some(({ operator }) => operator === 'DoesNotExist');
  return (label) => {
    if (label === undefined) return !exists && allowed === undefined && above === undefined && below === undefined;
    return (
      !absent &&
      !denied.has(label) &&
      (allowed === undefined || allowed.has(label)) &&
      (above === undefined || OPERATORS.GreaterThan.holds(label, above)) &&
      (below === undefined || OPERATORS.LessThan.holds(label, below))
    );
  };
}

function compareIntegers(a: string, b: string): -1 | 0 | 1 {
  const [left, right] = [BigInt(a), BigInt(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The string form, as the API takes it in `labelSelector`. */
export function formatSelector(selector: Selector): string {
  return selector.map(({ key, operator, values }) => OPERATORS[operator].print(key, values)).join(',');
}

/** One term of a field selector. */
interface FieldTerm {
  readonly field: string;
  readonly equal: boolean;
  readonly value: string;
}

/**
 * Splits `metadata.name=x,status.phase!=Running` into its terms. The text may come from an untrusted request, so no
 * pattern here may backtrack.
 */
export function fieldTerms(text: string, problemOf: (term: string) => Error): readonly FieldTerm[] {
  return text.split(',').flatMap((term) => {
    if (term.trim() === '') return [];
    const operator = /[!=]?=/.exec(term);
    const field = term.slice(0, operator?.index).trim();
    if (operator === null || field === '') throw problemOf(term);
    const value = term.slice(operator.index + operator[0].length).trim();
    return [{ field, equal: operator[0] !== '!=', value }];
  });
}

/** Parses a field selector into a predicate. An absent field counts as ''. */
export function parseFieldSelector(text: string): (object: KubeObject) => boolean {
  const problemOf = (term: string): Error =>
    new InvalidSelectorError(`invalid field selector "${text}": "${term}" is not FIELD=VALUE or FIELD!=VALUE`);
  const terms = fieldTerms(text, problemOf).map(({ field, ...rest }) => ({ path: field.split('.'), ...rest }));
  return (object) => terms.every(({ path, equal, value }) => (fieldOf(object, path) === value) === equal);
}

function fieldOf(object: unknown, path: readonly string[]): string {
  let value: unknown = object;
  for (const name of path) {
    value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  }
  return typeof value === 'string'
    ? value
    : typeof value === 'object' || value === undefined
      ? ''
      : `${value as number}`;
}

/** Why a label is invalid. */
export function labelProblem(key: string, value: string): string | undefined {
  return problemOfKey(key) ?? problemOfValue(value);
}

function problemOfKey(key: string): string | undefined {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (domain !== undefined && (domain.length > 253 || !DOMAIN.test(domain))) {
    return `${JSON.stringify(key)} is not a label key: the part before the slash must be a DNS name of at most 253 characters`;
  }
  if (name.length > 63 || !NAME.test(name)) {
    return `${JSON.stringify(key)} is not a label key: the name must be 1 to 63 letters, digits, "-", "_" or ".", a letter or digit at both ends`;
  }
  return undefined;
}

function problemOfValue(value: string): string | undefined {
  if (value === '' || (value.length <= 63 && NAME.test(value))) return undefined;
  return `${JSON.stringify(value)} is not a label value: it must be at most 63 letters, digits, "-", "_" or ".", a letter or digit at both ends`;
}

function integer(label: string | undefined): bigint | undefined {
  return label !== undefined && INTEGER.test(label) ? BigInt(label) : undefined;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
