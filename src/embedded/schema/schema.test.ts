import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorsText } from './field-error.ts';
import { linkDefinitions } from './link.ts';
import { normalise } from './normalise.ts';
import { compareQuantities, formatQuantity, parseQuantity } from '../../kube/quantity.ts';
import type { Schema } from './types.ts';
import { validateValue } from './validate.ts';

const metadata: Schema = { type: 'object', properties: { name: { type: 'string' } } };
const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['subsets'],
      properties: {
        replicas: { type: 'integer', format: 'int32', minimum: 0, default: 1 },
        mode: { type: 'string', enum: ['Clone', 'Reuse'], default: 'Clone' },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        note: { type: 'string', nullable: true },
        big: { type: 'integer', format: 'int64' },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        subsets: {
          type: 'array',
          maxItems: 3,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string', minLength: 2, pattern: '^[a-z]+$' },
              strategy: { type: 'object', default: {}, properties: { kind: { type: 'string', default: 'Rolling' } } },
            },
          },
        },
      },
    },
  },
};

function problems(spec: unknown, old?: unknown): string {
  return errorsText(validateValue(schema, { spec }, old === undefined ? undefined : { spec: old }));
}

describe('validateValue', () => {
  test.each([
    [{ subsets: [{ name: 'ab' }, {}] }, 'spec.subsets[1].name: Required value'],
    [{}, 'spec.subsets: Required value'],
    [
      { subsets: [], replicas: 'three' },
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
    ],
    [
      { subsets: [], replicas: 1.5 },
      '[spec.replicas: Invalid value: "float64": spec.replicas in body must be of type int32: "float64", <nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.replicas]',
    ],
    [
      { subsets: [], replicas: -1 },
      'spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
    ],
    [{ subsets: [], mode: 'Steal' }, 'spec.mode: Unsupported value: "Steal": supported values: "Clone", "Reuse"'],
    [
      { subsets: [], port: true },
      'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"',
    ],
    [
      { subsets: [{ name: 'Ab' }] },
      'spec.subsets[0].name: Invalid value: "Ab": spec.subsets[0].name in body should match \'^[a-z]+$\'',
    ],
    [
      { subsets: [{ name: 'a' }] },
      'spec.subsets[0].name: Invalid value: "a": spec.subsets[0].name in body should be at least 2 chars long',
    ],
    [{ subsets: [{ name: 'ab' }, { name: 'ab' }] }, 'spec.subsets[1]: Duplicate value: {"name":"ab"}'],
    [
      { subsets: ['aa', 'bb', 'cc', 'dd'].map((name) => ({ name })) },
      'spec.subsets: Too many: 4: must have at most 3 items',
    ],
    [{ subsets: null }, 'spec.subsets: Invalid value: "null": spec.subsets in body must be of type array: "null"'],
  ])('reports errors of %j like the API server', (spec, text) => {
    expect(problems(spec)).toBe(text);
  });

  test('accepts valid values, including 64-bit integers and null for nullable fields', () => {
    expect(validateValue(schema, { spec: { subsets: [], big: 2n ** 62n, note: null, port: 'http' } })).toEqual([]);
  });

  test('ignores errors in unchanged parts of an update, with list items matched by key', () => {
    const old = { subsets: [{ name: 'OLD' }], mode: 'Steal' };
    expect(validateValue(schema, { spec: { ...old, replicas: 2 } }, { spec: old })).toEqual([]);
    expect(problems({ subsets: [{ name: 'NEW' }, { name: 'OLD' }], mode: 'Steal' }, old)).toBe(
      'spec.subsets[0].name: Invalid value: "NEW": spec.subsets[0].name in body should match \'^[a-z]+$\'',
    );
  });

  test('reports how many alternatives of oneOf are valid', () => {
    const either: Schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(
      errorsText(validateValue({ type: 'object', properties: { spec: either } }, { spec: { a: '', b: '' } })),
    ).toBe(
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    );
  });
});

describe('normalise', () => {
  test('prunes and reports unknown fields, drops nulls and sets defaults, also nested ones', () => {
    const { value, unknownFields } = normalise(
      schema,
      {
        kind: 'Thing',
        metadata: { name: 'x', colour: 'red' },
        spec: {
          subsets: [{ name: 'ab', extra: 1 }],
          mode: null,
          note: null,
          raw: { any: { thing: null } },
          labels: { a: 'b' },
        },
        extra: {},
      },
      metadata,
    );
    expect(value).toEqual({
      kind: 'Thing',
      metadata: { name: 'x' },
      spec: {
        subsets: [{ name: 'ab', strategy: { kind: 'Rolling' } }],
        mode: 'Clone',
        note: null,
        raw: { any: { thing: null } },
        labels: { a: 'b' },
        replicas: 1,
      },
    });
    expect(unknownFields).toEqual(['extra', 'metadata.colour', 'spec.subsets[0].extra']);
  });

  test('does not change its input, and is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        const input = { spec };
        const before = structuredClone(input);
        const once = normalise(schema, input, metadata).value;
        expect(input).toEqual(before);
        expect(normalise(schema, once, metadata)).toEqual({ value: once, unknownFields: [] });
      }),
    );
  });
});

describe('quantities', () => {
  test.each([
    ['100m', '100m'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['512', '512'],
    ['1000', '1k'],
    ['1e3', '1e3'],
    ['0.1Ki', '102400m'],
    ['-2', '-2'],
    ['0', '0'],
    ['.5', '500m'],
  ])('%s is formatted as %s', (text, canonical) => {
    expect(formatQuantity(parseQuantity(text)!)).toBe(canonical);
  });

  test.each(['', '1Kb', 'abc', '1 Gi', '1..2', '--1', '1e'])('%j is refused', (text) => {
    expect(parseQuantity(text)).toBeUndefined();
  });

  test('the canonical form has the same value', () => {
    const suffix = fc.constantFrom('n', 'u', 'm', '', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-2');
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), suffix, (number, unit) => {
        const parsed = parseQuantity(`${number}${unit}`)!;
        expect(compareQuantities(parseQuantity(formatQuantity(parsed))!, parsed)).toBe(0);
      }),
    );
  });
});

describe('linkDefinitions', () => {
  test('resolves references and cycles, and overrides the target with siblings', () => {
    const linked = linkDefinitions({
      Node: { type: 'object', properties: { next: { $ref: 'Node' }, name: { $ref: 'Text', default: 'x' } } },
      Text: { type: 'string' },
    });
    const node = linked('Node')!;
    expect(node.properties!['next']).toBe(node);
    expect(node.properties!['name']).toEqual({ type: 'string', default: 'x' });
  });

  test('throws an error that names a missing definition', () => {
    const linked = linkDefinitions({ A: { items: { $ref: 'Missing' } } });
    expect(() => linked('A')).toThrow('refers to Missing');
    expect(linked('B')).toBeUndefined();
  });
});
