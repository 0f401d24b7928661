import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Rewriter } from './rewrite.ts';

test('replaces addresses wherever the stream is split, and reports each of them', () => {
  const word = fc.constantFrom('10.244.0.1', '10.244.17.203', '10.24', '1', '10.0.0.1', '"', '}\n', 'é', '\0');
  fc.assert(
    fc.property(fc.array(word), fc.array(fc.nat(40)), (words, cuts) => {
      const bytes = Buffer.from(words.join(' '));
      const rewriter = new Rewriter('127.24.');
      const out: Buffer[] = [];
      const reported: string[] = [];
      let at = 0;
      for (const length of [...cuts, bytes.length]) {
        const { bytes: next, addresses } = rewriter.push(bytes.subarray(at, at + length));
        at += length;
        reported.push(...addresses);
        out.push(next);
      }
      const { bytes: last, addresses } = rewriter.end();
      expect(Buffer.concat([...out, last]).toString()).toBe(bytes.toString().replaceAll('10.244.', '127.24.'));
      const expected = words.filter((each) => each.startsWith('10.244.'));
      expect([...reported, ...addresses]).toEqual(expected.map((each) => each.replace('10.244.', '127.24.')));
    }),
  );
});

test('does not hold back a complete watch event', () => {
  const event = '{"object":{"status":{"podIP":"10.244.0.7"}}}\n';
  expect(new Rewriter('127.24.').push(Buffer.from(event)).bytes.toString()).toBe(event.replace('10.244', '127.24'));
});
