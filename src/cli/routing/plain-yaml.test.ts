// readPlainYaml returns the same as the full parser, or undefined.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseYaml } from '../manifests/kubectl-yaml.ts';
import { readPlainYaml } from './plain-yaml.ts';

/** The result of the full parser for a text; REFUSED if it rejects it. */
const REFUSED = Symbol('refused');
function parsed(text: string): unknown {
  const documents = parseYaml(text);
  if (documents.length !== 1) return REFUSED;
  const [{ problems, value }] = documents as [(typeof documents)[number]];
  return problems.length > 0 ? REFUSED : value();
}

/** Both results to compare; undefined twice if the quick reader has none. */
function both(text: string): readonly [quick: unknown, parsed: unknown] {
  const quick = readPlainYaml(text);
  return [quick, quick === undefined ? undefined : parsed(text)];
}

test('readPlainYaml reads a pod as kubectl prints it', () => {
  const text = `apiVersion: v1
kind: Pod
metadata:
  annotations:
    appmesh.k8s.aws/ports: "80"
    note: 'it''s'
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels:
    app: cart
  name: cart-6f9b-x
  ownerReferences:
  - apiVersion: apps/v1
    controller: true
    uid: 12345678-90ab-4cde-8123-1234567890ab
spec:
  containers:
  - args:
    - --port=80
    - serve
    env:
    - name: A
      value: mesh/store/virtualNode/cart-vn
    image: registry.example.com:5000/cart:v1
    resources:
      limits:
        cpu: 100m
        memory: 128Mi
  tolerations:
  - effect: NoExecute
    tolerationSeconds: 300
status:
  conditions:
  - lastProbeTime: null
    message: containers with unready status
  podIP: 10.0.0.1
`
    .replace('    - --port=80\n', '')
    .replace('1b0c-4d', 'b0c-4d');
  expect(readPlainYaml(text)).toBeDefined();
  expect(readPlainYaml(text)).toEqual(parsed(text));
});

const key = fc.constantFrom('a', 'name', 'b.c/d', 'y', '"q"', '-', '__proto__', 'x_1', 'null', '1');
const value = fc.constantFrom(
  '--port=80',
  '-x',
  '--',
  '-',
  '-1a',
  '10m',
  '1Gi',
  '10.0.0.1',
  '1.2.3',
  '12345678-90ab-4cde-8123-1234567890ab',
  'a=b',
  '-inf',
  '-Inf',
  'a',
  'yes',
  'No',
  '1',
  '01',
  '1.5',
  '0x1',
  '1e3',
  '12:30',
  '-5',
  '-0',
  '~',
  'null',
  'true',
  'True',
  '',
  ' ',
  '"a\\n"',
  '"a\\x41"',
  '"a" b',
  "'it''s'",
  "'a' b",
  '{}',
  '[]',
  '{a: 1}',
  '|',
  '>-',
  '&a b',
  '*a',
  '!!str 1',
  '#',
  'a #b',
  'a: b',
  'a:b',
  'a:',
  '- a',
  'a - b',
  '-a',
  '=',
  '<<',
  '2026-01-01',
  '.inf',
  '.5',
  'a\t',
  'é',
  '"é\u0085"',
  '@a',
  '`a',
  '%a',
  '?',
  ': a',
);
const line = fc
  .tuple(fc.constantFrom('', '  ', '    ', '   ', '- ', '  - ', '    - ', '- - '), fc.option(key, { freq: 4 }), value)
  .map(([indent, name, text]) => `${indent}${name === null ? text : `${name}:${text === '' ? '' : ` ${text}`}`}`);

test('readPlainYaml agrees with the parser on arbitrary lines, or returns undefined', () => {
  const texts = fc.array(fc.oneof(line, fc.constantFrom('---', '...', '# c', '\t', 'a:\r')), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(texts, (lines) => {
      const [quick, expected] = both(`${lines.join('\n')}\n`);
      expect(quick).toEqual(expected);
    }),
    { numRuns: 3000 },
  );
});

test('readPlainYaml agrees with the parser on generated YAML', () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), value);
  const values = fc.dictionary(
    fc.oneof(key, fc.string({ minLength: 1 })),
    fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    })).tree,
    { minKeys: 1, maxKeys: 4 },
  );
  fc.assert(
    fc.property(values, fc.boolean(), (each, indentSeq) => {
      const [quick, expected] = both(
        stringify(each, { version: '1.1', lineWidth: 0, indentSeq, aliasDuplicateObjects: false }),
      );
      expect(quick).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
});
