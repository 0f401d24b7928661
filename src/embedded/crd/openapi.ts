// The documents under /openapi/v3, which kubectl uses to explain, validate and merge.
import { definition, descriptionOf, publicDefinitionName, writtenDefinitions } from '../kinds/definitions.ts';
import { definitionNameOf } from '../kinds/registry.ts';
import type { Resource } from '../resource.ts';
import type { WrittenSchema } from '../schema/link.ts';

type Json = Record<string, unknown>;

const objectMeta = 'meta.v1.ObjectMeta';
const queryParameters = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));

/** The document of one group and version, for all its resources. */
export function openApiV3Document(group: string, version: string, resources: readonly Resource[]): Json {
  const served = resources.filter((resource) => resource.group === group && resource.version === version);
  const schemas: Json = {};
  const paths: Json = {};
  for (const resource of served) {
    const name = componentName(resource);
    if (resource.custom) {
      schemas[name] = customComponent(resource);
      addDefinition(objectMeta, schemas);
    } else {
      addDefinition(definitionNameOf(resource)!, schemas);
    }
    addPaths(resource, name, paths);
  }
  const title = { title: 'Kubernetes', version: 'unversioned' };
  return { openapi: '3.0.0', info: title, paths, components: { schemas } };
}

/** `com.example.v1.Widget`: custom kinds are named by their reversed group. */
function componentName(resource: Resource): string {
  if (!resource.custom) return publicDefinitionName(definitionNameOf(resource)!);
  return [...resource.group.split('.').toReversed(), resource.version, resource.kind].join('.');
}

function reference(name: string): Json {
  return { $ref: `#/components/schemas/${publicDefinitionName(name)}` };
}

function addDefinition(name: string, schemas: Json): void {
  const key = publicDefinitionName(name);
  if (schemas[key] !== undefined) return;
  const written = writtenDefinitions()[name]!;
  const result: Json = {};
  schemas[key] = result;
  const description = descriptionOf(name);
  if (description !== undefined) result['description'] = description;
  Object.assign(result, publicNode(written, schemas));
  const properties = written['properties'] as Readonly<Record<string, WrittenSchema>> | undefined;
  if (properties === undefined) return;
  result['properties'] = Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      // The client package has no descriptions of fields that reference a definition: use that of the definition.
      const target = schema['$ref'];
      const about = descriptionOf(name, field) ?? (typeof target === 'string' ? descriptionOf(target) : undefined);
      return [field, { ...(about !== undefined && { description: about }), ...publicNode(schema, schemas) }];
    }),
  );
}

/** One schema node without its properties, with references as in the document. */
function publicNode(written: WrittenSchema, schemas: Json): Json {
  const {
    $ref: target,
    properties: _properties,
    keepsZero: _keepsZero,
    items,
    additionalProperties,
    ...rest
  } = written;
  const result: Json = { ...rest };
  if (typeof target === 'string') {
    addDefinition(target, schemas);
    result['allOf'] = [reference(target)];
  }
  if (items !== undefined) result['items'] = bareNode(items as WrittenSchema, schemas);
  if (additionalProperties !== undefined) {
    const isSchema = typeof additionalProperties === 'object';
    result['additionalProperties'] = isSchema
      ? bareNode(additionalProperties as WrittenSchema, schemas)
      : additionalProperties;
  }
  if (rest['format'] === 'quantity') return { oneOf: [{ type: 'string' }, { type: 'number' }] };
  if (rest['x-kubernetes-int-or-string'] === true) {
    return { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] };
  }
  return result;
}

function bareNode(written: WrittenSchema, schemas: Json): Json {
  const node = publicNode(written, schemas);
  const { allOf, ...rest } = node;
  return Array.isArray(allOf) && Object.keys(rest).length === 0 ? (allOf[0] as Json) : node;
}

function customComponent(resource: Resource): Json {
  const { properties, ...rest } = resource.schema;
  const kindSchema = definition('core.v1.Namespace').properties!;
  return {
    ...rest,
    properties: {
      ...properties,
      apiVersion: { ...kindSchema['apiVersion'], description: descriptionOf('core.v1.Namespace', 'apiVersion') },
      kind: { ...kindSchema['kind'], description: descriptionOf('core.v1.Namespace', 'kind') },
      metadata: { description: 'Standard object metadata.', allOf: [reference(objectMeta)] },
    },
    'x-kubernetes-group-version-kind': [gvk(resource)],
  };
}

function gvk(resource: Resource): Json {
  return { group: resource.group, version: resource.version, kind: resource.kind };
}

function addPaths(resource: Resource, component: string, paths: Json): void {
  const prefix = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = resource.namespaced ? '/namespaces/{namespace}' : '';
  const collection = `${prefix}${scope}/${resource.plural}`;
  const can = (verb: string): boolean => resource.verbs.includes(verb);
  const operation = (action: string, extra: Json = {}): Json => ({
    operationId: `${action}${resource.kind}`,
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk(resource),
    responses: {
      200: {
        description: 'OK',
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } },
      },
    },
    ...extra,
  });
  const body = { content: { '*/*': { schema: { $ref: `#/components/schemas/${component}` } } }, required: true };
  paths[collection] = {
    ...(can('list') && { get: operation('list') }),
    ...(can('create') && { post: operation('post', { parameters: queryParameters, requestBody: body }) }),
    ...(can('deletecollection') && { delete: operation('deletecollection') }),
  };
  if (!can('get')) return;
  paths[`${collection}/{name}`] = {
    get: operation('get'),
    put: operation('put', { parameters: queryParameters, requestBody: body }),
    patch: operation('patch', {
      parameters: [...queryParameters, { name: 'force', in: 'query', schema: { type: 'boolean', uniqueItems: true } }],
      requestBody: { content: patchTypes(resource), required: true },
    }),
    delete: operation('delete'),
    parameters: ['name', ...(resource.namespaced ? ['namespace'] : [])].map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', uniqueItems: true },
    })),
  };
  if (resource.namespaced && can('list')) paths[`${prefix}/${resource.plural}`] = { get: operation('list') };
}

function patchTypes(resource: Resource): Json {
  const types = ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'];
  if (!resource.custom) types.push('application/strategic-merge-patch+json');
  return Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]));
}
