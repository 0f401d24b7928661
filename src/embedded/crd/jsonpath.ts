// The subset of JSONPath that Kubernetes definitions use: fields, indexes, wildcards and filters such as
// `.status.conditions[?(@.type=="Ready")].status`. Used by printer columns, selectable fields and scale.
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly Step[]; readonly operator?: string; readonly operand?: unknown };

/** A compiled path: returns all values that it finds, in order. */
export type JsonPath = (value: unknown) => unknown[];

/** Compiles a path. Throws an Error with the position when it is invalid. */
export function compileJsonPath(path: string): JsonPath {
  const steps = parse(path);
  return (value) => steps.reduce<unknown[]>((found, step) => found.flatMap((item) => apply(step, item)), [value]);
}

/** The field names of a path that consists of fields only; undefined for any other path. */
export function simplePath(path: string): readonly string[] | undefined {
  const steps = parse(path);
  return steps.every((step) => step.kind === 'field') ? steps.map((step) => step.name) : undefined;
}

function parse(path: string): Step[] {
  const text = path.replace(/^\$/, '').replace(/^\{(.*)\}$/, '$1');
  const steps: Step[] = [];
  let position = 0;
  while (position < text.length) {
    const rest = text.slice(position);
    const field =
      /^\.((?:[^.[\]\\*]|\\.)+)/.exec(rest) ?? (position === 0 ? /^((?:[^.[\]\\*]|\\.)+)/.exec(rest) : null);
    if (field !== null) {
      steps.push({ kind: 'field', name: field[1]!.replaceAll(/\\(.)/g, '$1') });
      position += field[0].length;
    } else if (rest.startsWith('.*')) {
      steps.push({ kind: 'all' });
      position += 2;
    } else if (rest === '.') {
      position += 1;
    } else if (rest.startsWith('[')) {
      const end = closingBracket(rest);
      if (end < 0) throw new Error(`the JSON path ${path} has an unterminated array: ${rest}`);
      steps.push(bracket(rest.slice(1, end), path));
      position += end + 1;
    } else {
      throw new Error(`the JSON path ${path} cannot be read from ${JSON.stringify(rest)} on`);
    }
  }
  return steps;
}

function closingBracket(text: string): number {
  let quote = '';
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!;
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '[') depth += 1;
    else if (character === ']' && --depth === 0) return index;
  }
  return -1;
}

function bracket(inner: string, path: string): Step {
  const text = inner.trim();
  if (text === '*') return { kind: 'all' };
  if (/^-?\d+$/.test(text)) return { kind: 'index', index: Number(text) };
  const quoted = /^(['"])(.*)\1$/.exec(text);
  if (quoted !== null) return { kind: 'field', name: quoted[2]!.replaceAll(/\\(.)/g, '$1') };
  const filter = /^\?\(\s*@([^=!<>~\s]*)\s*(?:(==|!=|<=|>=|<|>)\s*(.+?))?\s*\)$/.exec(text);
  if (filter === null) throw new Error(`the JSON path ${path} has an index that cannot be read: [${inner}]`);
  const [, target = '', operator, operand] = filter;
  const inside = target === '' ? [] : parse(target);
  return operator === undefined
    ? { kind: 'filter', path: inside }
    : { kind: 'filter', path: inside, operator, operand: literal(operand!, path) };
}

function literal(text: string, path: string): unknown {
  const quoted = /^(['"])(.*)\1$/.exec(text);
  if (quoted !== null) return quoted[2]!.replaceAll(/\\(.)/g, '$1');
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new Error(`the JSON path ${path} compares with something that is not a literal: ${text}`);
}

function apply(step: Step, value: unknown): unknown[] {
  if (step.kind === 'field') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.hasOwn(value, step.name) ? [(value as Record<string, unknown>)[step.name]] : [];
  }
  const items: unknown[] = Array.isArray(value)
    ? value
    : typeof value === 'object' && value !== null
      ? Object.values(value)
      : [];
  if (step.kind === 'all') return items;
  if (step.kind === 'filter') return items.filter((item) => matchesFilter(step, item));
  const item = Array.isArray(value) ? items.at(step.index) : undefined;
  return item === undefined ? [] : [item];
}

function matchesFilter(step: Extract<Step, { kind: 'filter' }>, item: unknown): boolean {
  const [found] = step.path.reduce<unknown[]>(
    (values, inner) => values.flatMap((value) => apply(inner, value)),
    [item],
  );
  if (step.operator === undefined || found === undefined) return step.operator === undefined && found !== undefined;
  const left = (typeof found === 'bigint' ? Number(found) : found) as string | number;
  const right = step.operand as string | number;
  switch (step.operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    default:
      return left >= right;
  }
}
