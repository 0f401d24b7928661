import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatSelector,
  InvalidSelectorError,
  labelTest,
  matches,
  parseFieldSelector,
  parseSelector,
  selectorOf,
} from './selector.ts';
import type { Requirement, Selector } from './selector.ts';

describe('parseSelector', () => {
  it.each<[string, Selector]>([
    ['', []],
    ['  ', []],
    ['\rx', [{ key: 'x', operator: 'Exists', values: [] }]],
    ['!x', [{ key: 'x', operator: 'DoesNotExist', values: [] }]],
    ['a=b', [{ key: 'a', operator: 'In', values: ['b'] }]],
    ['a == b', [{ key: 'a', operator: 'In', values: ['b'] }]],
    ['a=', [{ key: 'a', operator: 'In', values: [''] }]],
    ['a!=b', [{ key: 'a', operator: 'NotIn', values: ['b'] }]],
    ['this.is.dns/key-x in (so,what)', [{ key: 'this.is.dns/key-x', operator: 'In', values: ['so', 'what'] }]],
    ['x notin\n(abc,,def)', [{ key: 'x', operator: 'NotIn', values: ['abc', '', 'def'] }]],
    ['x in ()', [{ key: 'x', operator: 'In', values: [''] }]],
    ['x notin (, a)', [{ key: 'x', operator: 'NotIn', values: ['', 'a'] }]],
    ['a in (x,notin,in,x)', [{ key: 'a', operator: 'In', values: ['x', 'notin', 'in'] }]],
    ['in', [{ key: 'in', operator: 'Exists', values: [] }]],
    ['x>1', [{ key: 'x', operator: 'GreaterThan', values: ['1'] }]],
    ['x < 7', [{ key: 'x', operator: 'LessThan', values: ['7'] }]],
  ])('reads %j', (text, selector) => {
    expect(parseSelector(text)).toEqual(selector);
  });

  it.each([
    ['x=a||y=b', '"a||y" is not a label value'],
    ['x==a==b', 'expected "," or the end at position 5, found "=="'],
    ['!x=a', 'expected "," or the end at position 3, found "="'],
    ['x<a', 'expected an integer at position 3, found "a"'],
    ['x,,y', 'expected a label key at position 3, found ","'],
    [',x', 'expected a label key at position 1, found ","'],
    ['a in (xyz),', 'expected a label key at position 12, found the end'],
    ['a in (xyz)b', 'expected "," or the end at position 11, found "b"'],
    ['a in (xyz abc)', 'expected "," or ")" at position 11, found "abc"'],
    ['a notin(', 'expected a value at position 9, found the end'],
    ['a (', 'expected one of = == != in notin > < , or the end at position 3, found "("'],
    ['x nott in (y)', 'found "nott"'],
    ['x=)', 'expected a value at position 3, found ")"'],
    ['(', 'expected a label key at position 1, found "("'],
    ['_x=a', '"_x" is not a label key'],
    ['UPPER.example/x', 'the part before the slash must be a DNS name'],
    [`x=${'v'.repeat(64)}`, 'is not a label value'],
  ])('rejects %j and names the position', (text, message) => {
    expect(() => parseSelector(text)).toThrow(InvalidSelectorError);
    expect(() => parseSelector(text)).toThrow(message);
  });
});

describe('matches', () => {
  it.each<[string, Record<string, string>, boolean]>([
    // An absent label differs from every value.
    ['a!=b', {}, true],
    ['a notin (b,c)', {}, true],
    ['a!=b', { a: 'b' }, false],
    ['a in (b)', {}, false],
    ['a=', {}, false],
    ['a=', { a: '' }, true],
    // Every requirement must hold.
    ['a=b,c!=d,e in (x,y),!f,g', { a: 'b', e: 'y', g: '' }, true],
    ['a=b,c!=d,e in (x,y),!f,g', { a: 'b', e: 'y', g: '', f: '1' }, false],
    ['', { a: 'b' }, true],
    // Integers are compared exactly; anything else never matches.
    ['x>9007199254740992', { x: '9007199254740993' }, true],
    ['x>1', { x: '1' }, false],
    ['x>1', { x: 'many' }, false],
    ['x<1', {}, false],
    ['x<-1', { x: '-2' }, true],
    // Inherited properties are not labels.
    ['toString', {}, false],
    ['!constructor', {}, true],
  ])('%j on %j is %s', (selector, labels, expected) => {
    expect(matches(parseSelector(selector), labels)).toBe(expected);
    expect(labelTest(parseSelector(selector))(labels)).toBe(expected);
  });
});

describe('selectorOf', () => {
  it('joins matchLabels and matchExpressions', () => {
    const selector = selectorOf({
      matchLabels: { app: 'shop' },
      matchExpressions: [
        { key: 'tier', operator: 'NotIn', values: ['db'] },
        { key: 'canary', operator: 'DoesNotExist' },
      ],
    });
    expect(formatSelector(selector)).toBe('app=shop,tier!=db,!canary');
    expect(matches(selectorOf({}), undefined)).toBe(true);
  });

  it.each([
    [{ matchExpressions: [{ key: 'a', operator: 'In' }] }, 'matchExpressions[0].values: must name at least one value'],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      'matchExpressions[0].values: must be empty',
    ],
    [{ matchExpressions: [{ key: 'a', operator: 'in', values: ['x'] }] }, '"in" is not one of In, NotIn, Exists'],
    [{ matchLabels: { 'a b': 'c' } }, 'matchLabels.a b: "a b" is not a label key'],
  ])('rejects %j', (selector, message) => {
    expect(() => selectorOf(selector)).toThrow(message);
  });
});

const keys = fc.constantFrom('a', 'in', 'example.com/app', 'x-1');
const someValue = fc.constantFrom('', 'a', 'in', 'notin', 'b.c_d-e', '1', '2');
const someValues = fc.uniqueArray(someValue, { minLength: 1, maxLength: 4 });
const requirement = fc.oneof(
  fc.record({ key: keys, operator: fc.constantFrom('In' as const, 'NotIn' as const), values: someValues }),
  fc.record({
    key: keys,
    operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
    values: fc.constant([]),
  }),
  fc.record({
    key: keys,
    operator: fc.constantFrom('GreaterThan' as const, 'LessThan' as const),
    values: fc.integer({ min: -3, max: 3 }).map((n) => [`${n}`]),
  }),
) satisfies fc.Arbitrary<Requirement>;
const someSelector = fc.array(requirement, { maxLength: 5 });

describe('labelTest', () => {
  it('gives the same result as checking each requirement', () => {
    fc.assert(
      fc.property(someSelector, fc.dictionary(keys, someValue), (selector, labels) => {
        expect(labelTest(selector)(labels)).toBe(matches(selector, labels));
      }),
    );
  });
});

describe('formatSelector', () => {
  it('prints a selector that parseSelector reads back', () => {
    fc.assert(
      fc.property(someSelector, (selector) => {
        expect(parseSelector(formatSelector(selector))).toEqual(selector);
      }),
    );
  });
});

describe('parseFieldSelector', () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'x' }, spec: { hostNetwork: true } };

  it.each([
    ['metadata.name=a', true],
    ['metadata.name==b', false],
    ['metadata.name!=b,metadata.namespace=x', true],
    ['spec.nodeName=', true],
    ['spec.hostNetwork=true', true],
    ['', true],
  ])('evaluates %j', (selector, expected) => {
    expect(parseFieldSelector(selector)(pod)).toBe(expected);
  });

  it('rejects a term without an operator', () => {
    expect(() => parseFieldSelector('metadata.name')).toThrow('"metadata.name" is not FIELD=VALUE');
  });
});
