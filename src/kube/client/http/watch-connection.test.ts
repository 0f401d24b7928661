import type { IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { http } from '../../http.ts';
import { afterHead, readBody, forWatches } from './watch-connection.ts';

interface Read {
  readonly status: number | undefined;
  readonly body: string;
  /** Whether Node's parser had to read the body. */
  readonly byNode: boolean;
}

/** Reads the answer of a server that sends these pieces, and then ends or stays open. */
function answerIn(pieces: readonly Buffer[], end = false): Promise<Read> {
  const [ours, theirs] = duplexPair();
  theirs.once('data', () => void send());
  const send = async (): Promise<void> => {
    for (const piece of pieces) {
      theirs.write(piece);
      await turn();
    }
    if (end) theirs.end();
  };
  const agent = forWatches(Object.assign(new http.Agent(), { createConnection: () => ours }));
  const { promise, resolve, reject } = Promise.withResolvers<Read>();
  const request = http.get({ agent, host: 'server' });
  request.on('information', (head) => afterHead(head, request.socket));
  const read = (response: IncomingMessage): void => {
    let body = '';
    readBody(response, (bytes) => (body += bytes.toString('latin1')));
    const byNode = response.listenerCount('data') > 0;
    response.on('end', () => resolve({ status: response.statusCode, body, byNode }));
    response.on('error', reject);
  };
  request.on('response', (response) => {
    afterHead(response, response.socket);
    // Reads later, as a client does that has to await something first.
    void turn().then(() => read(response));
  });
  request.on('error', reject);
  return promise.finally(() => theirs.destroy());
}

const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunks = '4\r\nab\r\n\r\n1;x=y\r\nc\r\n0\r\nTrailer: x\r\n\r\n';

test('a chunked body bypasses Node, wherever the bytes are split', async () => {
  const bytes = Buffer.from(head + chunks);
  const wanted = { status: 200, body: 'ab\r\nc', byNode: false };
  expect(await answerIn([bytes])).toEqual(wanted);
  expect(await answerIn([...bytes].map((byte) => Buffer.of(byte)))).toEqual(wanted);
  for (let cut = 1; cut < bytes.length; cut++) {
    expect(await answerIn([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(wanted);
  }
});

test('an informational response is not taken for the answer, wherever the bytes are split', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n';
  const bytes = Buffer.from(hint + hint + head + chunks);
  for (let cut = 1; cut <= bytes.length; cut++) {
    const read = await answerIn([bytes.subarray(0, cut), bytes.subarray(cut)]);
    expect(read).toEqual({ status: 200, body: 'ab\r\nc', byNode: false });
  }
});

test.each([
  ['a failure', `HTTP/1.1 410 Gone\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`, 410, 'ab\r\nc'],
  ['a body of known length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc', 200, 'abc'],
  ['no body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 200, ''],
  ['a body until the end', 'HTTP/1.1 200 OK\r\n\r\nabc', 200, 'abc'],
  ['an HTTP/1.0 answer', 'HTTP/1.0 200 OK\r\n\r\nabc', 200, 'abc'],
  ['two encodings', `${head.replace('chunked', 'gzip, chunked')}${chunks}`, 200, 'ab\r\nc'],
  ['a content encoding', `${head.replace('Transfer', 'Content-Encoding: x\r\nTransfer')}${chunks}`, 200, 'ab\r\nc'],
])('Node reads %s, wherever the bytes are split', async (_what, text, status, body) => {
  const bytes = Buffer.from(text);
  for (let cut = 1; cut <= bytes.length; cut++) {
    const read = await answerIn([bytes.subarray(0, cut), bytes.subarray(cut)], true);
    expect(read).toEqual({ status, body, byNode: true });
  }
});

test('a body larger than the buffers is read completely', async () => {
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`);
  const pieces = Array.from({ length: 20 }, (_, at) => bytes.subarray(at * 60_000, (at + 1) * 60_000));
  expect((await answerIn(pieces)).body.length).toBe(1_000_000);
});

test.each([
  ['a body that is cut off', `${head}5\r\nab`, 'aborted'],
  ['a body without its end', `${head}1\r\na\r\n`, 'aborted'],
  ['a head that is cut off', head.slice(0, -4), 'socket hang up'],
])('%s is an error', async (_what, text, message) => {
  await expect(answerIn([Buffer.from(text)], true)).rejects.toThrow(message);
});

test('invalid chunks are an error', async () => {
  await expect(answerIn([Buffer.from(`${head}1\r\nab\r\n`)])).rejects.toThrow(/does not end/);
});
