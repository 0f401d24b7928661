// Reads a protobuf message from JSON, according to the schema of its kind: field names in camelCase or snake_case, null
// for absent fields, numbers as strings. Unlike the server, it refuses unknown fields: a typo must not widen a rule.
import type * as z from 'zod';

/** The path of a field, such as spec.subsets[0]. */
export type FieldPath = readonly (string | number)[];

/** A problem with a field, and the path of the field. */
export interface FieldProblem {
  readonly at: FieldPath;
  readonly message: string;
}

type Read = (value: unknown, at: (string | number)[], problems: FieldProblem[]) => unknown;

/** The parts of a zod schema definition that are used here. */
interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly catchall?: z.ZodType;
}

const readers = new WeakMap<z.ZodType, Read>();

/** The message, without its invalid fields. */
export function readMessage<S extends z.ZodType>(
  schema: S,
  value: unknown,
  at: FieldPath,
  problems: FieldProblem[],
): z.output<S> {
  return readerOf(schema)(value ?? {}, [...at], problems) as z.output<S>;
}

function readerOf(schema: z.ZodType): Read {
  const known = readers.get(schema);
  if (known !== undefined) return known;
  const made = makeReader(schema);
  readers.set(schema, made);
  return made;
}

function makeReader(schema: z.ZodType): Read {
  const definition = schema.def as unknown as Definition;
  switch (definition.type) {
    case 'optional':
    case 'nullable':
      return readerOf(definition.innerType!);
    case 'object':
      return messageReader(definition);
    case 'array':
      return listReader(definition.element!);
    case 'record':
      return mapReader(definition.valueType!);
    default:
      return scalarReader(schema, definition.type);
  }
}

function messageReader({ shape = {}, catchall }: Definition): Read {
  const fields = new Map(Object.entries(shape).map(([name, schema]) => [name, readerOf(schema)] as const));
  return (value, at, problems) => {
    if (!isObject(value)) return wrong(at, problems, 'an object', value, {});
    const message: Record<string, unknown> = {};
    for (const [written, part] of Object.entries(value)) {
      const name = fields.has(written) ? written : camelCase(written);
      const read = fields.get(name);
      if (read === undefined) {
        if (catchall === undefined) problems.push({ at: [...at, written], message: 'unknown field' });
        continue;
      }
      if (part === null || part === undefined) continue;
      at.push(written);
      message[name] = read(part, at, problems);
      at.pop();
    }
    return message;
  };
}

function listReader(element: z.ZodType): Read {
  const read = readerOf(element);
  const mayBeNull = element.def.type === 'nullable';
  return (value, at, problems) => {
    if (!Array.isArray(value)) return wrong(at, problems, 'a list', value, []);
    return value.map((item: unknown, index) => {
      if (item === null && mayBeNull) return null;
      at.push(index);
      const part = read(item, at, problems);
      at.pop();
      return part;
    });
  };
}

function mapReader(valueType: z.ZodType): Read {
  const read = readerOf(valueType);
  return (value, at, problems) => {
    if (!isObject(value)) return wrong(at, problems, 'an object', value, {});
    const entries = Object.entries(value).map(([key, part]) => {
      at.push(key);
      const item = read(part, at, problems);
      at.pop();
      return [key, item] as const;
    });
    return Object.fromEntries(entries);
  };
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  number: 'a number',
};

function scalarReader(schema: z.ZodType, type: string): Read {
  return (value, at, problems) => {
    const plain =
      type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    const parsed = schema.safeParse(plain);
    if (parsed.success) return parsed.data;
    const outOfRange = type === 'number' && typeof plain === 'number';
    return wrong(at, problems, outOfRange ? rangeOf(schema) : (EXPECTED[type] ?? type), value, undefined);
  };
}

function rangeOf(schema: z.ZodType): string {
  const { minValue, maxValue, isInt } = schema as z.ZodNumber;
  return `a ${isInt ? 'whole number' : 'number'} from ${minValue} to ${maxValue}`;
}

/** Reports a wrong value, and returns a substitute of the type that the schema promises. */
function wrong<T>(at: FieldPath, problems: FieldProblem[], expected: string, found: unknown, instead: T): T {
  problems.push({ at: [...at], message: `must be ${expected}, found ${shown(found)}` });
  return instead;
}

/** A value for a message, truncated if it is long. */
export function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function camelCase(name: string): string {
  return name.includes('_') ? name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase()) : name;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
