// An answer in JSON, with the headers that go with every answer.
import type { ServerResponse } from 'node:http';
import { stringifyJson } from '../../kube/index.ts';
import { HEADERS } from './guard.ts';

/** Sends a value; what is given beside the status are further headers. */
export function answerJson(
  response: ServerResponse,
  value: unknown,
  {
    status = 200,
    ...headers
  }: { readonly status?: number; readonly [header: string]: string | number | undefined } = {},
): void {
  const common = { ...HEADERS, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
  response.writeHead(status, { ...common, ...headers }).end(stringifyJson(value));
}
