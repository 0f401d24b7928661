// The schemas of the built-in kinds, parsed and linked on first use: a server that answers only discovery never parses
// them. scripts/openapi.ts writes both files. The descriptions are those of Kubernetes and generated at each build;
// without them `kubectl explain` shows only fields and types.
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

export function definition(name: string): Schema {
  linked ??= linkDefinitions(writtenDefinitions(), (each, schema) => {
    goTypes.set(schema, each.slice(each.indexOf('.') + 1));
  });
  const schema = linked(name);
  if (schema === undefined) throw new Error(`no schema definition is named ${name}`);
  return schema;
}

/** The Go type of a definition's schema, such as `v1.Container`. */
export function goTypeName(schema: Schema): string | undefined {
  return goTypes.get(schema);
}

/** The description of a definition, or of one of its fields, in the API reference. */
export function descriptionOf(name: string, field?: string): string | undefined {
  descriptions ??= readJson('descriptions.json') as Record<string, string>;
  return descriptions[field === undefined ? name : `${name}#${field}`];
}

/** The name of a definition in the OpenAPI documents of Kubernetes. */
export function publicDefinitionName(name: string): string {
  const packageName = name.slice(0, name.indexOf('.'));
  return `${packagePrefixes[packageName] ?? 'io.k8s.api'}.${name}`;
}

const packagePrefixes: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis',
  resource: 'io.k8s.apimachinery.pkg.api',
  intstr: 'io.k8s.apimachinery.pkg.util',
  runtime: 'io.k8s.apimachinery.pkg',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis',
};
