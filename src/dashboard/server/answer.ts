// Answers with JSON and the common headers.
import type { ServerResponse } from 'node:http';
import { stringifyJson } from '../../kube/index.ts';
import { HEADERS } from './guard.ts';

/** Sends a value as JSON; all options except `status` are headers. */
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
