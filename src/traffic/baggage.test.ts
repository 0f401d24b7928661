// The regular expression for a key in the header `baggage`, compared with a parser of the header.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RE2JS } from 're2js';
import { baggageKey, baggageRegex, baggageTest } from './baggage.ts';
import { matchesRegex, regexProblem } from './regex/regex.ts';

/** The values of a member, parsed according to the W3C recommendation. */
function valuesOf(header: string, name: string): readonly string[] {
  return header.split(',').flatMap((member) => {
    const [pair = ''] = member.split(';');
    const at = pair.indexOf('=');
    const isMember = at >= 0 && pair.slice(0, at).replaceAll(/^[ \t]+|[ \t]+$/g, '') === name;
    return isMember ? [decodeURIComponent(pair.slice(at + 1).replaceAll(/^[ \t]+|[ \t]+$/g, ''))] : [];
  });
}

const key = fc.stringMatching(/^[a-zA-Z0-9]([-._a-zA-Z0-9]{0,3}[a-zA-Z0-9])?$/);
const few = fc.constantFrom('pr-1', 'pr-1', 'pr-1', 'pr-12', 'pr', 'PR-1', 'pr.1', 'prx1');
const blanks = fc.constantFrom('', '', '', ' ', '\t', '  ');
/** Some letters percent-encoded, in either case. */
const encoded = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.infiniteStream(fc.constantFrom('', '', '', 'upper', 'lower'))).map(([letters, how]) =>
    Array.from(letters, (letter) => {
      const escape = `%${letter.charCodeAt(0).toString(16)}`;
      const { value } = how.next() as { value: string };
      return value === '' ? letter : value === 'upper' ? escape.toUpperCase() : escape;
    }).join(''),
  );
const value = fc.oneof(encoded(few), encoded(key), fc.constantFrom('', 'env=pr-1', '%2C', '%20pr-1'));
const property = fc
  .tuple(blanks, fc.constantFrom('env=pr-1', 'ttl=3', 'secret', ' env = pr-1'))
  .map((each) => each.join(''));
const member = fc
  .tuple(blanks, fc.constantFrom('env', 'env', 'ENV', 'xenv', 'env2', 'user', '%65nv'), blanks, blanks, value, blanks)
  .map(([before, name, one, two, text, behind]) => `${before}${name}${one}=${two}${text}${behind}`);
const baggage = fc
  .array(fc.tuple(member, fc.array(property, { maxLength: 2 })), { minLength: 1, maxLength: 3 })
  .map((members) => members.map(([each, properties]) => [each, ...properties].join(';')).join(','));

describe('baggageRegex', () => {
  test('matches a header exactly when a member has the key as its value', () => {
    let fitting = 0;
    fc.assert(
      fc.property(few, baggage, (wanted, header) => {
        const fits = matchesRegex(baggageRegex(wanted), header);
        fitting += fits ? 1 : 0;
        expect([header, fits]).toEqual([header, valuesOf(header, 'env').includes(wanted)]);
      }),
      { numRuns: 5_000 },
    );
    expect(fitting).toBeGreaterThan(100);
  });

  test.each([
    ['env=pr-1', true],
    ['user=alice, env = pr-1 ;ttl=3,x=y', true],
    ['env=%70r%2D1', true],
    ['env=pr-12', false],
    ['env=xpr-1', false],
    ['xenv=pr-1', false],
    ['user=a;env=pr-1', false],
    ['user=env=pr-1', false],
    ['env=pr-1x,env=pr', false],
    ['', false],
  ])('for pr-1 matches %j: %s', (header, fits) => {
    expect(matchesRegex(baggageRegex('pr-1'), header)).toBe(fits);
  });

  test('matches the same values in baggageTest as in RE2', () => {
    const odd = fc.constantFrom('', '\n', '\r', '\u2028', 'ü', ',');
    const header = fc.tuple(odd, baggage, odd).map((each) => each.join(''));
    fc.assert(
      fc.property(few, header, (wanted, text) => {
        expect(baggageTest(wanted)(text)).toBe(RE2JS.compile(baggageRegex(wanted)).matches(text));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is accepted by Envoy for every key, and baggageKey finds the key in it', () => {
    expect(regexProblem(baggageRegex('o'.repeat(63)))).toBeUndefined();
    expect(RE2JS.compile(baggageRegex('o'.repeat(63))).programSize()).toBeLessThan(32_700);
    fc.assert(
      fc.property(key, (wanted) => {
        expect(baggageKey(baggageRegex(wanted))).toBe(wanted);
      }),
    );
    for (const other of [undefined, '', '.*', '(.*,)?env=alice(,.*)?', baggageRegex('a').replace('a|%61', '.*')])
      expect(baggageKey(other)).toBeUndefined();
  });
});
