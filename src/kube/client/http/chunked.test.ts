import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dechunker } from './chunked.ts';

/** Decodes a body that arrives in these pieces. */
function read(pieces: readonly Buffer[]): { readonly data: Buffer; readonly over: boolean } {
  const data: Buffer[] = [];
  const body = new Dechunker((bytes) => data.push(Buffer.from(bytes)));
  let over = false;
  for (const piece of pieces) over = body.push(piece);
  return { data: Buffer.concat(data), over };
}

function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...places.filter((place) => place < bytes.length).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

const chunk = fc.record({
  data: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  size: fc.constantFrom(
    (size: number) => size.toString(16),
    (size: number) => size.toString(16).toUpperCase(),
    (size: number) => `000${size.toString(16)}`,
  ),
  extension: fc.constantFrom('', ';', ';name', ';name="0"'),
});

test('the data is decoded, however it is split into chunks and the chunks into pieces', () => {
  fc.assert(
    fc.property(
      fc.array(chunk),
      fc.array(fc.constantFrom('A: b\r\n', '0\r\n')),
      fc.array(fc.nat(400)),
      (chunks, trailers, cuts) => {
        const framed = chunks.flatMap(({ data, size, extension }) => [
          Buffer.from(`${size(data.length)}${extension}\r\n`),
          data,
          Buffer.from('\r\n'),
        ]);
        const bytes = Buffer.concat([...framed, Buffer.from(`0\r\n${trailers.join('')}\r\n`)]);
        const wanted = { data: Buffer.concat(chunks.map(({ data }) => data)), over: true };
        expect(read(cutAt(bytes, cuts))).toEqual(wanted);
        expect(read([...bytes].map((byte) => Buffer.of(byte)))).toEqual(wanted);
        expect(read([bytes.subarray(0, -1)]).over).toBe(false);
      },
    ),
  );
});

test.each([
  ['\r\n', /no size/],
  [';x\r\n', /no size/],
  ['x\r\n', /no size/],
  ['-1\r\n', /no size/],
  ['1g\r\n', /not a number/],
  ['1 \r\n', /not a number/],
  ['1\na\r\n', /not a number/],
  ['1\ra\r\n', /does not end/],
  ['1\r\nab\r\n', /does not end/],
  ['1\r\na\rb', /does not end/],
  ['1\r\na\n', /does not end/],
  ['0\r\n\rx', /does not end/],
  ['10000000000000\r\n', /too large/],
  ['0\r\n\r\nHTTP/1.1 200', /more after/],
])('the invalid framing %j is rejected', (text, message) => {
  expect(() => read([Buffer.from(text)])).toThrow(message);
});
