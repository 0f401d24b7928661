// Reads the JSON body of a request, up to a limit.
import type { IncomingMessage } from 'node:http';
import { Refused } from '../refused.ts';

const MAX_BYTES = 1_000_000;

export async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Refused(413, `more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Invalid JSON is reported below.
  }
  throw new Refused(400, 'the body is not a JSON object');
}
