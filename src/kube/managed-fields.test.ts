import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWithoutForeign, withoutForeignManagedFields } from './managed-fields.ts';
import type { KubeObject } from './objects.ts';

type Message = { readonly object: KubeObject };

function entry(manager: string, key = 'f:a'): object {
  return {
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { [key]: {} } },
  };
}

function read(message: unknown): unknown {
  const source = Buffer.from(JSON.stringify(message));
  return parseWithoutForeign(source, (parsed) => [(parsed as Message).object]);
}

/** A message with its object as a table keeps it. Parsing less must make no difference to it. */
function kept(given: unknown): unknown {
  const { object } = given as Message;
  return { ...(given as Message), object: withoutForeignManagedFields(object) };
}

function message(metadata: object, rest: object = {}): Message {
  return { object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', ...metadata }, ...rest } };
}

describe('parseWithoutForeign', () => {
  const cases: [string, Message][] = [
    ['none', message({})],
    ['an empty list', message({ managedFields: [] })],
    ['of others', message({ managedFields: [entry('kubelet'), entry('kubectl')], labels: { after: 'x' } })],
    ['of ours and of others', message({ managedFields: [entry('kubelet'), entry('offshoot-environments')] })],
    ['with brackets in a key', message({ managedFields: [entry('kubelet', 'v:["x"]'), entry('kubelet')] })],
    ['mentioned in a value', message({ annotations: { last: '{"managedFields":[{"manager":"x"}]}' } })],
    [
      'in an object inside the object',
      message({}, { spec: { template: { metadata: { managedFields: [entry('x')] } } } }),
    ],
    ['in both', message({ managedFields: [entry('x')] }, { spec: { metadata: { managedFields: [entry('y')] } } })],
    ['next to names in other scripts', message({ managedFields: [entry('x')], annotations: { who: 'Zoë 東京' } })],
  ];
  test.each(cases)('gives the same objects for managed fields: %s', (_what, given) => {
    expect(kept(read(given))).toEqual(kept(given));
  });

  test('removes the list if all entries are of others', () => {
    expect(read(message({ managedFields: [entry('kubelet')], labels: {} }))).toEqual(message({ labels: {} }));
  });

  test("keeps those of Istio's installer, because we take over what it applied", () => {
    const given = message({ managedFields: [entry('istio-operator')] });
    expect(kept(given)).toEqual(given);
    expect(read(given)).toEqual(given);
  });

  test('handles every object of a list', () => {
    const items = [
      message({ managedFields: [entry('x')] }),
      message({ managedFields: [entry('offshoot-a')] }),
      message({}),
    ];
    const list = { items: items.map(({ object }) => object) };
    const parsed = parseWithoutForeign(Buffer.from(JSON.stringify(list)), (all) => (all as typeof list).items);
    expect(parsed).toEqual({ items: [message({}).object, items[1]!.object, message({}).object] });
  });

  test.each([
    ['a key that has a bracket', [entry('x', 'v:["a"]')]],
    ['a list inside the list', [{ ...entry('x'), list: [{}], other: [[1], 2] }]],
    ['a list in an object in the list', [{ a: { b: [1] } }]],
    ['a key that ends as the list does, and one that begins as a value', [{ 'f:a],': { ':1,': {}, name: {} } }]],
    ['the same with the metadata, and everything, ended', [{ ']},': { ':1}': {} } }, { ']}},': { ': {}': {} } }]],
    ['a value that begins as another object', [{ 'a]}},{': { ':1}],': 2 } }]],
    ['a value that begins as a list', [{ 'a]}},[': ',', b: ':' }]],
  ])('is not misled by %s', (_what, managedFields) => {
    const given = message({ managedFields, labels: { a: 'b' } });
    expect(kept(read(given))).toEqual(kept(given));
    const items = [given.object, message({ managedFields: [entry('y')] }).object, given.object];
    const list = { items, kind: 'List' };
    const parsed = parseWithoutForeign(Buffer.from(JSON.stringify(list)), (all) => (all as typeof list).items ?? []);
    expect((parsed as typeof list).items.map(withoutForeignManagedFields)).toEqual(
      items.map(withoutForeignManagedFields),
    );
  });

  test('gives the same result as parsing everything and dropping the fields, for any content', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom('[', ']', '{', '}', ':', ',', '"', '1', ' ') }),
      fc.constantFrom(']', '[', '"managedFields":[', '\\"managedFields\\":[', '"', '\\', '],', ']},', ':1,', ':{'),
    );
    // No key ends with a backslash: the parser of Node 24 can confuse it with a key that ends with a quote.
    const name = text.map((any) => (any.endsWith('\\') ? `${any}.` : any));
    const manager = fc.constantFrom('kubelet', 'offshoot-x', 'istio-operator', 'x', '],', ':1,');
    const managers = fc.array(fc.tuple(manager, fc.dictionary(name, fc.oneof(text, fc.constant({}), fc.array(text)))), {
      maxLength: 3,
    });
    const values = fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true });
    fc.assert(
      fc.property(fc.option(managers, { nil: undefined }), values, fc.boolean(), (list, data, nested) => {
        const managedFields = list?.map(([by, fields]) => ({ manager: by, fieldsV1: { ...fields } }));
        const inner = nested ? { spec: { metadata: { managedFields: [entry('y', ']')] } } } : {};
        const given = message({ ...(managedFields && { managedFields }), annotations: data }, { data, ...inner });
        expect(kept(read(given))).toEqual(kept(given));
      }),
      { numRuns: 2_000 },
    );
  });

  test('rejects invalid JSON', () => {
    expect(() => parseWithoutForeign(Buffer.from('{"managedFields":[]'), () => [])).toThrow(SyntaxError);
  });
});
