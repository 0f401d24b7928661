// The command that explains a request, for people to try and to edit.
import { isGatewaySource } from '../request.ts';
import type { Request } from '../request.ts';

/** `offshoot explain GET http://reviews.shop:9080/api -H 'x-env: pr-7' -n shop`. */
export function explainLine(request: Request): string {
  const { method = 'GET', scheme = 'http', port, path, source } = request;
  const name = request.host.replace(/:\d*$/, '');
  const isUsual = port === (scheme === 'https' ? 443 : 80);
  const address = isUsual ? name : `${name}:${port}`;
  const url = `${scheme}://${address}${path}`;
  const headers = { ...(request.host !== address && { host: request.host }), ...request.headers };
  // Flags can name a caller, but cannot give its labels.
  if (!isGatewaySource(source) && Object.keys(source.labels ?? {}).length > 0) {
    const line = JSON.stringify({ method, url, headers, from: source });
    return `echo ${quoted(line)} | offshoot explain --requests -`;
  }
  const where = isGatewaySource(source) ? `--gateway ${source.gateway}` : `-n ${source.namespace}`;
  return ['offshoot explain', method, quoted(url), ...headerFlags(headers), where].join(' ');
}

/** Headers as flags of `explain`. */
export function headerFlags(headers: NonNullable<Request['headers']>): string[] {
  return Object.entries(headers).flatMap(([header, values]) =>
    [values].flat().map((value) => `-H ${quoted(`${header}: ${value}`)}`),
  );
}

/** A word quoted for the shell. */
function quoted(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
