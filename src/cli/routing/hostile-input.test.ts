// Fuzzed input: objects with arbitrary values, as truncated or garbled text. The command translates it, or names the
// position of the error; it never fails in another way.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { CommandFailed } from '../exit.ts';
import { translationOf } from './translate.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/routing.yaml');
const OBJECTS = parseAllDocuments(readFileSync(EXAMPLE, 'utf8')).map((document) => document.toJS() as unknown);
const GROUPS = ['a', 'b'].map((name, i) => ({
  apiVersion: 'supergloo.solo.io/v1',
  kind: 'MeshGroup',
  metadata: { name, namespace: 'shop' },
  spec: { meshes: [{ name: 'shop' }, { name: ['b', 'a'][i] }] },
}));
const MATCHERS = {
  apiVersion: 'supergloo.solo.io/v1',
  kind: 'RoutingRule',
  metadata: { name: 'all', namespace: 'shop' },
  spec: {
    targetMesh: { name: 'a' },
    sourceSelector: { namespaceSelector: { namespaces: ['shop'] } },
    requestMatchers: [
      { prefix: '/', headers: [{ name: 'h', value: 'v', regex: true }], queryParameters: [{ name: 'q' }] },
      { regex: '/a.*', methods: ['GET', 'GET'] },
    ],
  },
};
const WORLD = [...OBJECTS, ...GROUPS, MATCHERS];

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-hostile-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const ANYTHING = fc.constantFrom<unknown>(
  null,
  0,
  -1,
  1.5,
  4_294_967_296,
  true,
  '',
  '/',
  'x',
  'mesh/shop/virtualNode/a',
  '8080,',
  '__proto__',
  '\u0000',
  'a'.repeat(300),
  [],
  {},
  [5],
  { name: 5 },
);

interface Change {
  readonly at: number;
  readonly how: 'set' | 'remove' | 'add';
  readonly value: unknown;
  readonly field: string;
}
const CHANGE: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('set', 'remove', 'add'),
  value: ANYTHING,
  field: fc.constantFrom('unknown', '__proto__', 'items', 'name', 'kind', 'exact', 'regex', 'istio'),
});

type Holder = Record<string | number, unknown>;

/** All fields of a value: the holding object and the key. */
function placesIn(value: unknown): (readonly [holder: Holder, key: string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [[value as Holder, key] as const, ...placesIn(part)]);
}

function changed(changes: readonly Change[]): unknown[] {
  const world = structuredClone(WORLD);
  for (const { at, how, value, field } of changes) {
    const places = placesIn(world);
    const [holder, key] = places[at % places.length]!;
    if (how === 'remove') delete holder[key];
    else
      Object.defineProperty(holder, how === 'set' ? key : field, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return world;
}

const FORMS: readonly ((objects: readonly unknown[]) => string)[] = [
  (objects) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, undefined, 1),
  (objects) => objects.map((each) => JSON.stringify(each) ?? 'null').join('\n'),
  (objects) => stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  (objects) => objects.map((each) => stringify(each)).join('---\n'),
];

const NOISE = fc.constantFrom(
  '{',
  '}',
  '[',
  ']',
  ':',
  '"',
  "'",
  '\n',
  '\t',
  '- ',
  '---\n',
  '%',
  '&a ',
  '*a',
  '!!',
  '\u0000',
  '|',
  '\\',
  '<<: ',
);
const GARBLE = fc.record({ at: fc.nat(), cut: fc.nat({ max: 4 }), noise: fc.oneof(fc.constant(''), NOISE) });

function garbled(
  text: string,
  all: readonly { readonly at: number; readonly cut: number; readonly noise: string }[],
): string {
  return all.reduce((before, { at, cut, noise }) => {
    const place = at % (before.length + 1);
    return before.slice(0, place) + noise + before.slice(place + cut);
  }, text);
}

/** What is wrong with the command's result for a text, if anything. */
function complaintAbout(text: string): string | undefined {
  const filename = path.join(dir, 'input.yaml');
  writeFileSync(filename, text);
  for (const to of ['appmesh-api', 'appmesh-crd'] as const) {
    for (const mode of ['strict', 'compat'] as const) {
      try {
        const printed = translationOf({ filename: [filename], to, mode, allowAll: true, output: 'json' });
        const messages = [...printed.text.matchAll(/"code": "OBJECT_INVALID",[^]*?"message": (".*")/g)].map(
          ([, message]) => message!,
        );
        const withoutPosition = messages.find((message) => !/input\.yaml:\d+:\d+: \S/.test(message));
        if (withoutPosition !== undefined) return withoutPosition;
      } catch (error) {
        if (!(error instanceof CommandFailed)) return (error as Error).stack;
        if (!/input\.yaml:\d+:\d+: \S/.test(error.message)) return error.message;
      }
    }
  }
}

test(
  'objects with arbitrary values are translated, or reported with file, line and field',
  { timeout: 120_000 },
  () => {
    fc.assert(
      fc.property(fc.array(CHANGE, { minLength: 1, maxLength: 4 }), fc.constantFrom(...FORMS), (changes, form) => {
        expect(complaintAbout(form(changed(changes)))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  },
);

test('garbled or truncated text is reported with file and line', { timeout: 120_000 }, () => {
  fc.assert(
    fc.property(fc.array(GARBLE, { minLength: 1, maxLength: 4 }), fc.constantFrom(...FORMS), (all, form) => {
      expect(complaintAbout(garbled(form(WORLD), all))).toBeUndefined();
    }),
    { numRuns: 60 },
  );
});

test('arbitrary text is reported with file and line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      expect(complaintAbout(text)).toBeUndefined();
    }),
    { numRuns: 100 },
  );
});
