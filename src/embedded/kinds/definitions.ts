// The schemas of the built-in kinds, read and linked when the first of them is asked for: starting a server that only
// answers discovery never parses them. Both files are written by scripts/openapi.ts; the descriptions are not ours and
// are made at each build, and without them `kubectl explain` shows fields and types only.
import { existsSync, readFileSync } from 'node:fs';
import { linkDefinitions, type WrittenSchema } from '../schema/link.ts';
import type { Schema } from '../schema/types.ts';

let written: Readonly<Record<string, WrittenSchema>> | undefined;
let linked: ((name: string) => Schema | undefined) | undefined;
const goTypes = new WeakMap<Schema, string>();
let descriptions: Readonly<Record<string, string>> | undefined;

function readJson(name: string): unknown {
  const file = new URL(name, import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** All definitions with references by short name, such as `core.v1.Pod`. */
export function writtenDefinitions(): Readonly<Record<string, WrittenSchema>> {
  written ??= readJson('openapi.json') as Record<string, WrittenSchema>;
  return written;
}

/** The linked schema of one definition. */
export function definition(name: string): Schema {
  linked ??= linkDefinitions(writtenDefinitions(), (each, schema) => {
    goTypes.set(schema, each.slice(each.indexOf('.') + 1));
  });
  const schema = linked(name);
  if (schema === undefined) throw new Error(`no schema definition is named ${name}`);
  return schema;
}

/** The Go type that a definition's schema stands for, such as `v1.Container`. */
export function goTypeName(schema: Schema): string | undefined {
  return goTypes.get(schema);
}

/** What the API reference says of a definition, or of one of its fields. */
export function descriptionOf(name: string, field?: string): string | undefined {
  descriptions ??= readJson('descriptions.json') as Record<string, string>;
  return descriptions[field === undefined ? name : `${name}#${field}`];
}

/** The name that Kubernetes gives to a definition in its OpenAPI documents. */
export function publicDefinitionName(name: string): string {
  const home = name.slice(0, name.indexOf('.'));
  return `${homes[home] ?? 'io.k8s.api'}.${name}`;
}

const homes: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis',
  resource: 'io.k8s.apimachinery.pkg.api',
  intstr: 'io.k8s.apimachinery.pkg.util',
  runtime: 'io.k8s.apimachinery.pkg',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis',
};
