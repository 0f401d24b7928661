// The expected results come from kubectl; if kubectl is installed, test/kubectl-offshoot.test.ts checks them against
// it.
import { describe, expect, test } from 'vitest';
import { printedByKubectl, templatesRefusedByKubectl, thing } from '../testing/jsonpath-habits.ts';
import { evaluateTemplate } from './evaluate.ts';
import { JsonPathError, parseTemplate } from './parse.ts';

const print = (template: string, value: unknown = thing): string => evaluateTemplate(parseTemplate(template), value);

test('recursive descent returns results in document order (kubectl has no fixed order)', () => {
  expect(print('{..name}')).toBe('a p q r');
});

test.each(printedByKubectl)('%s prints what kubectl prints', (template, text) => {
  expect(print(template)).toBe(text);
});

test.each(templatesRefusedByKubectl)('%s is rejected', (template) => {
  expect(() => print(template)).toThrow(JsonPathError);
});

describe('the error says what is wrong with', () => {
  test.each([
    ['', 'the template is missing'],
    ['{.kind', 'a { is not closed'],
    ['{kind}', 'a field is written with a dot, as .kind'],
    ['{.spec["a"]}', '["a"] is no index, slice or key in single quotes'],
    ['{end}', 'there is no {range …} before it'],
    ['{.spec.list[7]}', 'there is no index 7 in a list of 3'],
    ['{.kind[0]}', 'Thing is not a list: it has no index'],
    ['{#}', '"#" means nothing in braces'],
    ['{.spec.list[?(@.name===1)]}', 'there is no comparison ==='],
    ['{.spec.list[?(@.name==1)]}', "p and 1 can't be compared"],
  ])('%s', (template, message) => {
    expect(() => print(template)).toThrow(message);
  });
});

test('integers compare with floats, and large integers stay exact', () => {
  expect(print('{.spec.list[?(@.v>1.5)].name}')).toBe('q r');
  expect(print('{.n} {.list}', { n: 2n ** 63n, list: [1n] })).toBe('9223372036854775808 [1]');
});

test('undefined fields are treated as missing', () => {
  expect(print('{.a}{.b.c}{.d}', { a: undefined, b: {}, d: { e: undefined, f: 1 } })).toBe('{"f":1}');
});
