import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from './json.ts';

const integer = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 2n ** 53n - 20n, max: 2n ** 53n + 20n }),
);

/** JSON values as they are in memory: bigints only where a number would lose digits. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.string({ unit: fc.constantFrom('0', '9', ':', ',', ' ', '-', '[', '"', '\\', 'é') }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
    integer.map((big) => (Number.isSafeInteger(Number(big)) ? Number(big) : big)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value')),
    // No key ends with a backslash: the parser of Node 24 can confuse it with a key that ends with a quote.
    fc.dictionary(
      fc.string().map((any) => `${any}.`),
      tie('value'),
      { noNullPrototype: true },
    ),
  ),
}));

/** A whole double beyond 2^53 is read back as its shortest decimal form, parsed as an integer. */
function expected(input: unknown): unknown {
  if (typeof input === 'number' && Number.isInteger(input) && !Number.isSafeInteger(input)) {
    const text = String(input);
    // More digits than an integer of the API can have.
    return /^-?\d{1,20}$/.test(text) ? BigInt(text) : input;
  }
  if (Array.isArray(input)) return input.map(expected);
  if (typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([key, part]) => [key, expected(part)]));
}

test('a written value is read back unchanged', () => {
  fc.assert(
    fc.property(value, (input) => {
      expect(parseJson(stringifyJson(input))).toEqual(expected(input));
    }),
  );
});

test('every integer keeps its digits, at any position in the text', () => {
  fc.assert(
    fc.property(integer, fc.nat(40), fc.constantFrom('', ' ', '\n', '\t'), (big, shift, space) => {
      const text = `{"pad":"${'x'.repeat(shift)}","a":${space}${big}${space},"b":[${space}${big}${space}]}`;
      const kept = Number.isSafeInteger(Number(big)) ? Number(big) : big;
      expect(parseJson(text)).toEqual({ pad: 'x'.repeat(shift), a: kept, b: [kept] });
      expect(parseJson(Buffer.from(text))).toEqual(parseJson(text));
      expect(stringifyJson(parseJson(`[${big}]`))).toBe(`[${big}]`);
    }),
  );
});

test('an integer of exactly 16 digits is found after other integers, wherever they end', () => {
  const short = fc.bigInt({ min: 2n ** 53n, max: 10n ** 16n - 1n });
  fc.assert(
    fc.property(fc.array(fc.nat()), short, (others, big) => {
      expect(parseJson(`[${[...others, big].join(',')}]`)).toEqual([...others, big]);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['-9223372036854775808', -9223372036854775808n],
  ['18446744073709551615', 18446744073709551615n],
  ['1e300', 1e300],
  ['12345678901234567890e2', Number('12345678901234567890e2')],
  ['1234567890123456789.5', Number('1234567890123456789.5')],
  ['0.12345678901234567890', Number('0.12345678901234567890')],
  ['-0', -0],
  ['"12345678901234567890"', '12345678901234567890'],
  ['" ,12345678901234567890, "', ' ,12345678901234567890, '],
])('%s is parsed exactly', (text, expectedValue) => {
  expect(parseJson(text)).toBe(expectedValue);
});

test('a float next to a big integer stays a float', () => {
  expect(parseJson('[1e30,9007199254740993,1.5]')).toEqual([1e30, 9007199254740993n, 1.5]);
});

test('a key named __proto__ is an ordinary key, with and without big integers', () => {
  for (const text of ['{"__proto__":{"a":1}}', '{"__proto__":{"a":9007199254740993}}']) {
    expect(Object.keys(parseJson(text) as object)).toEqual(['__proto__']);
  }
});

test.each(['', '{', '{"a":1,}', '<html>', '9007199254740993 x'])('invalid JSON %j is rejected', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('values that JSON cannot represent are rejected', () => {
  expect(() => stringifyJson(undefined)).toThrow('undefined cannot be written as JSON');
  const cycle: Record<string, unknown> = { big: 9007199254740993n };
  cycle['self'] = cycle;
  expect(() => stringifyJson(cycle)).toThrow(/circular/i);
});
