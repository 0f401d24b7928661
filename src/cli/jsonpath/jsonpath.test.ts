// What kubectl makes of a template was seen with kubectl itself; where one is found, test/kubectl-offshoot.test.ts asks it
// again.
import { describe, expect, test } from 'vitest';
import { printedByKubectl, templatesRefusedByKubectl, thing } from '../testing/jsonpath-habits.ts';
import { fillIn } from './evaluate.ts';
import { JsonPathError, parseTemplate } from './parse.ts';

const print = (template: string, value: unknown = thing): string => fillIn(parseTemplate(template), value);

test('what is found at any depth comes in the order of the object: kubectl has none', () => {
  expect(print('{..name}')).toBe('a p q r');
});

test.each(printedByKubectl)('%s is filled in', (template, text) => {
  expect(print(template)).toBe(text);
});

test.each(templatesRefusedByKubectl)('%s is refused', (template) => {
  expect(() => print(template)).toThrow(JsonPathError);
});

describe('refusals say what is wrong', () => {
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

test('whole numbers compare with others, and large ones stay exact', () => {
  expect(print('{.spec.list[?(@.v>1.5)].name}')).toBe('q r');
  expect(print('{.n} {.list}', { n: 2n ** 63n, list: [1n] })).toBe('9223372036854775808 [1]');
});

test('what is not set is not there', () => {
  expect(print('{.a}{.b.c}{.d}', { a: undefined, b: {}, d: { e: undefined, f: 1 } })).toBe('{"f":1}');
});
