// A request as part of the URL, so that it can be shared.
import type { TriedRequest } from '../../data.ts';

/** The address of a tried request. */
export function tryAddress({ method = 'GET', url, headers = {}, from, gateway }: TriedRequest): string {
  const query = new URLSearchParams({ url });
  if (method !== 'GET') query.set('method', method);
  for (const [name, value] of Object.entries(headers)) {
    for (const each of [value].flat()) query.append('header', `${name}: ${each}`);
  }
  if (from !== undefined) query.set('from', typeof from === 'string' ? from : JSON.stringify(from));
  if (gateway !== undefined) query.set('gateway', gateway);
  return `/try?${query.toString()}`;
}

/** The request in a query string; undefined if there is none. */
export function triedIn(query: URLSearchParams): TriedRequest | undefined {
  const url = query.get('url');
  if (url === null || url === '') return undefined;
  const [from, gateway] = [query.get('from'), query.get('gateway')];
  return {
    method: query.get('method') ?? 'GET',
    url,
    headers: headersIn(query.getAll('header').join('\n')),
    ...(from !== null && { from: from.startsWith('{') ? (JSON.parse(from) as TriedRequest['from'] & object) : from }),
    ...(gateway !== null && { gateway }),
  };
}

/** Parses headers, one per line. */
export function headersIn(text: string): Readonly<Record<string, readonly string[]>> {
  const headers = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    if (at < 1) continue;
    const name = line.slice(0, at).trim();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(headers);
}
