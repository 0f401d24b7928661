import { describe, expect, test } from 'vitest';
import { builtinResources, decodeObject } from '../kinds/index.ts';
import type { ApiObject } from '../resource.ts';
import { errorsText } from '../schema/field-error.ts';
import type { Schema } from '../schema/types.ts';
import {
  acceptedStatus,
  compileJsonPath,
  customResources,
  definitionProblems,
  gatewayApiDefinitions,
  isEstablished,
  istioDefinitions,
  appMeshDefinitions,
  openApiV3Document,
} from './index.ts';

const specSchema: Schema = {
  type: 'object',
  properties: { size: { type: 'integer', default: 1 }, colour: { type: 'string' } },
};

function widget(schema: unknown = { type: 'object', properties: { spec: specSchema } }, names = {}): ApiObject {
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        listKind: 'WidgetList',
        shortNames: ['wd'],
        ...names,
      },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
          selectableFields: [{ jsonPath: '.spec.colour' }],
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
          ],
        },
        { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
        { name: 'v1alpha1', served: false, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      ],
    },
  };
}

describe('customResources', () => {
  const [v1, v1beta1, ...rest] = customResources(widget());

  test('returns one resource per served version, stored in the storage version', () => {
    expect(rest).toEqual([]);
    expect([v1!.version, v1beta1!.version]).toEqual(['v1', 'v1beta1']);
    expect(v1beta1!.stored).toMatchObject({ group: 'example.com', version: 'v1' });
    expect(v1).toMatchObject({
      kind: 'Widget',
      singular: 'widget',
      shortNames: ['wd'],
      status: true,
      namespaced: true,
    });
    expect(v1!.scale).toEqual({ specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' });
  });

  test('returns the columns of the definition, or the age by default', () => {
    const now = Date.parse('2026-01-01T01:00:00Z');
    const object = {
      metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { size: 3 },
      status: {
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    };
    const cells = (resource = v1!): unknown[] => resource.columns.map(({ value }) => value(object, now));
    expect(v1!.columns.map((column) => column.name)).toEqual(['Name', 'Size', 'Ready', 'Since']);
    expect(cells()).toEqual(['x', 3, 'True', '60m']);
    expect(cells(v1beta1)).toEqual(['x', '60m']);
  });

  test('reads selectable fields as strings', () => {
    expect(v1!.selectableFields!['spec.colour']!({ spec: { colour: 'red' } })).toBe('red');
    expect(v1!.selectableFields!['spec.colour']!({})).toBe('');
  });

  test('prunes and defaults objects by the schema of their version', () => {
    const decoded = decodeObject(v1!, {
      kind: 'Widget',
      metadata: { name: 'x', nope: 1 },
      spec: { colour: 'red', nope: 2 },
    });
    expect(decoded.value).toEqual({ kind: 'Widget', metadata: { name: 'x' }, spec: { colour: 'red', size: 1 } });
    expect(decoded.unknownFields).toEqual(['metadata.nope', 'spec.nope']);
  });
});

describe('acceptedStatus', () => {
  const now = '2026-01-01T00:00:00Z';

  test('accepts unused names and establishes the definition', () => {
    const status = acceptedStatus(widget(), [], now);
    expect(isEstablished({ status })).toBe(true);
    expect(status['storedVersions']).toEqual(['v1']);
    expect(acceptedStatus({ ...widget(), status }, [], 'later')).toEqual(status);
  });

  test('refuses a short name that another definition of the group uses', () => {
    const other = {
      metadata: { name: 'gadgets.example.com' },
      spec: { group: 'example.com' },
      status: { acceptedNames: { plural: 'wd' } },
    };
    const status = acceptedStatus(widget(), [other], now);
    expect(isEstablished({ status })).toBe(false);
    expect(status['conditions']).toEqual([
      {
        type: 'NamesAccepted',
        status: 'False',
        reason: 'ShortNamesConflict',
        message: '"wd" is already in use',
        lastTransitionTime: now,
      },
      {
        type: 'Established',
        status: 'False',
        reason: 'NotAccepted',
        message: 'not all names are accepted',
        lastTransitionTime: now,
      },
    ]);
  });
});

describe('definitionProblems', () => {
  const schemaPath = 'spec.versions[0].schema.openAPIV3Schema';

  test.each<[string, unknown, string]>([
    [
      'no type',
      { type: 'object', properties: { spec: {} } },
      `${schemaPath}.properties[spec].type: Required value: must not be empty for specified object fields`,
    ],
    [
      'a list without items',
      { type: 'object', properties: { a: { type: 'array' } } },
      `${schemaPath}.properties[a].items: Required value: must be specified`,
    ],
    [
      'a root that is not an object',
      { type: 'string' },
      `${schemaPath}.type: Invalid value: "string": must be object at the root`,
    ],
    [
      'types below anyOf',
      { type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } },
      `${schemaPath}.properties[a].anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
    [
      'a map list without keys',
      {
        type: 'object',
        properties: { a: { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } } },
      },
      `${schemaPath}.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
    ],
    [
      'a default of the wrong type',
      { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'integer', default: 'x' } } } } },
      `${schemaPath}.properties[a].properties[b].default: Invalid value: "string": `,
    ],
    [
      'a rule with an unknown field',
      { type: 'object', properties: { a: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.b == 1' }] } } },
      `${schemaPath}.properties[a].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b == 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b'`,
    ],
    [
      'a transition rule in a plain list',
      {
        type: 'object',
        properties: {
          a: { type: 'array', items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
        },
      },
      `oldSelf cannot be used on the uncorrelatable portion of the schema within ${schemaPath}.properties[a]`,
    ],
  ])('refuses %s', (_name, schema, text) => {
    expect(errorsText(definitionProblems(widget(schema)))).toContain(text);
  });

  test('refuses a name other than plural and group', () => {
    expect(errorsText(definitionProblems({ ...widget(), metadata: { name: 'x' } }))).toBe(
      'metadata.name: Invalid value: "x": must be spec.names.plural+"."+spec.group',
    );
  });

  test('refuses to change the kind', () => {
    expect(errorsText(definitionProblems(widget(undefined, { kind: 'Other' }), widget()))).toBe(
      'spec.names.kind: Invalid value: "Other": field is immutable',
    );
  });

  test('accepts a valid definition', () => {
    expect(definitionProblems(widget())).toEqual([]);
  });
});

describe('JSON paths', () => {
  const object = { a: { 'b.c': [1, { d: 'x', n: 2 }, { d: 'y', n: 5 }] } };
  test.each([
    ['.a.b\\.c[0]', [1]],
    [".a['b.c'][-1].d", ['y']],
    ['.a.b\\.c[*].d', ['x', 'y']],
    ['.a.b\\.c[?(@.n > 2)].d', ['y']],
    ['.a.b\\.c[?(@.d=="x")].n', [2]],
    ['.none.at.all', []],
    ['{.a.b\\.c[0]}', [1]],
  ])('%s finds values', (path, found) => {
    expect(compileJsonPath(path)(object)).toEqual(found);
  });

  test.each(['.a[', '.a[b]', '.a[?(@.x ~ 1)]'])('%s is refused', (path) => {
    expect(() => compileJsonPath(path)).toThrow('JSON path');
  });
});

describe('bundled definitions', () => {
  const all = { ...istioDefinitions(), ...gatewayApiDefinitions(), ...appMeshDefinitions() };

  test.each(Object.keys(all))('%s is valid and accepts any spec', (name) => {
    const definition = all[name]!;
    expect(definitionProblems(definition)).toEqual([]);
    const [resource] = customResources(definition);
    const object = { metadata: { name: 'x' }, spec: { anything: [{ goes: true }] } };
    expect(decodeObject(resource!, object)).toMatchObject({ value: object, unknownFields: [] });
  });

  test('Istio networking resources are served in three versions', () => {
    const versions = customResources(all['virtualservices.networking.istio.io']!).map((resource) => resource.version);
    expect(versions).toEqual(['v1', 'v1beta1', 'v1alpha3']);
  });
});

describe('OpenAPI documents', () => {
  test('of built-in kinds have merge keys, valid references, and a patch operation with fieldValidation', () => {
    const document = openApiV3Document('apps', 'v1', builtinResources());
    const schemas = (document['components'] as { schemas: Record<string, unknown> }).schemas;
    const pod = schemas['io.k8s.api.core.v1.PodSpec'] as { properties: Record<string, Record<string, unknown>> };
    expect(pod.properties['containers']).toMatchObject({
      'x-kubernetes-patch-merge-key': 'name',
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.Container' },
    });
    for (const [, target] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(schemas).toHaveProperty([target!]);
    }
    const path = (document['paths'] as Record<string, Record<string, unknown>>)[
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'
    ];
    expect(path!['patch']).toMatchObject({
      'x-kubernetes-group-version-kind': { group: 'apps', version: 'v1', kind: 'Deployment' },
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation' })]),
    });
  });

  test('name custom kinds by their reversed group', () => {
    const document = openApiV3Document('example.com', 'v1', customResources(widget()));
    expect((document['components'] as { schemas: object }).schemas).toMatchObject({
      'com.example.v1.Widget': {
        properties: {
          spec: specSchema,
          metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        },
        'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
      },
    });
  });
});
