// The environments in which expressions are checked and evaluated: the functions of Kubernetes, and variables with or
// without a type. Values are plain JSON, so evaluation is untyped; the types of a schema are only used for checking.
import { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../types.ts';
import { registerCollections } from './collections.ts';
import { registerNetwork } from './network.ts';
import { registerScalars } from './scalars.ts';
import { escapeField, resourceField } from './values.ts';

const options = {
  enableOptionalTypes: true,
  limits: { maxAstNodes: 20_000, maxDepth: 200, maxListElements: 2000, maxMapEntries: 2000, maxCallArguments: 32 },
};

/** The type of a variable: anything, a value of a schema, or an optional one. */
export type Variable = 'dyn' | { readonly schema: Schema; readonly isResource?: boolean; readonly optional?: boolean };

let functions: Environment | undefined;

/** An environment with all functions; a strict one refuses lists of mixed types. */
function library(strict: boolean): Environment {
  if (functions === undefined) {
    functions = new Environment(options);
    registerCollections(functions);
    registerNetwork(functions);
    registerScalars(functions);
  }
  return functions.clone({ homogeneousAggregateLiterals: strict });
}

const untyped = new Map<string, Environment>();

/** The environment for evaluating expressions with these variables. */
export function runningEnvironment(names: readonly string[]): Environment {
  const key = names.join(' ');
  let known = untyped.get(key);
  if (known === undefined) {
    known = library(false);
    for (const name of names) known.registerVariable(name, 'dyn');
    untyped.set(key, known);
  }
  return known;
}

type Variables = Readonly<Record<string, Variable>>;

const typed = new WeakMap<Variables, Map<boolean, Environment>>();

/**
 * The environment for checking expressions with these variables; a strict one refuses lists of mixed types. Cached by
 * variables, because declaring all types of a large schema again for every rule would be slow.
 */
export function checkingEnvironment(variables: Variables, strict = true): Environment {
  const known = typed.get(variables) ?? new Map<boolean, Environment>();
  typed.set(variables, known);
  let environment = known.get(strict);
  if (environment === undefined) known.set(strict, (environment = declared(variables, strict)));
  return environment;
}

function declared(variables: Variables, strict: boolean): Environment {
  const environment = library(strict);
  const types = new Map<Schema, string>();
  for (const [name, variable] of Object.entries(variables)) {
    if (variable === 'dyn') environment.registerVariable(name, 'dyn');
    else {
      const type = typeOf(environment, variable.schema, `${name}Type`, variable.isResource ?? false, types);
      environment.registerVariable(name, variable.optional === true ? `optional<${type}>` : type);
    }
  }
  return environment;
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'google.protobuf.Timestamp',
  date: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  byte: 'bytes',
};
const scalars: Readonly<Record<string, string>> = { integer: 'int', number: 'double', boolean: 'bool' };

/** The CEL type of a schema; object types are registered under their path. */
function typeOf(
  environment: Environment,
  schema: Schema,
  name: string,
  isResource: boolean,
  types: Map<Schema, string>,
): string {
  const known = types.get(schema);
  if (known !== undefined) return known;
  if (schema['x-kubernetes-int-or-string'] === true) return 'dyn';
  if (schema.type === 'string') return formats[schema.format ?? ''] ?? 'string';
  if (schema.type === 'array') {
    if (schema.items === undefined) return 'dyn';
    return `list<${typeOf(environment, schema.items, `${name}.idx`, false, types)}>`;
  }
  if (schema.type !== 'object') return scalars[schema.type ?? ''] ?? 'dyn';
  if (typeof schema.additionalProperties === 'object') {
    return `map<string, ${typeOf(environment, schema.additionalProperties, `${name}.elem`, false, types)}>`;
  }
  if (schema.additionalProperties === true) return 'dyn';
  const fields: Record<string, string> = {};
  const embedded = isResource || schema['x-kubernetes-embedded-resource'] === true;
  const properties = { ...schema.properties };
  if (embedded) for (const key of ['apiVersion', 'kind', 'metadata']) properties[key] = resourceField(key)!;
  for (const [key, child] of Object.entries(properties)) {
    const field = escapeField(key);
    if (field !== undefined) fields[field] = typeOf(environment, child, `${name}.${field}`, false, types);
  }
  environment.registerType(name, { fields });
  // Objects of one type can be compared with each other and with null. These operators are never evaluated.
  for (const other of [name, 'null']) environment.registerOperator(`${name} == ${other}`, () => false);
  types.set(schema, name);
  return name;
}
