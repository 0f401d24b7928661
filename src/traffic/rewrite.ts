// What a route makes of the path of a request, and where a redirect leads.
import { RE2JS } from 're2js';
import type { Request } from './request.ts';
import { splitPath } from './request.ts';
import type { PathCondition, RedirectAction, Rewrite } from './rules.ts';

/** The path that a workload gets, with the query. */
export function rewrittenPath(path: string, rewrite: Rewrite | undefined, fits: PathCondition | undefined): string {
  if (rewrite === undefined) return path;
  if (rewrite.path !== undefined) return replaceMatched(path, rewrite.path, fits);
  const { pathname, query } = splitPath(path);
  const { match, rewrite: to } = rewrite.regex!;
  return replaceAll(pathname, match, to) + query;
}

/** Envoy names groups `\1`, and nothing else means anything in a substitution. */
function replaceAll(text: string, regex: string, to: string): string {
  const matcher = RE2JS.compile(regex).matcher(text);
  let result = '';
  let from = 0;
  while (matcher.find()) {
    const replacement = to.replaceAll(/\\(\d|\\)/g, (_all, which: string) =>
      which === '\\' ? which : (matcher.group(Number(which)) ?? ''),
    );
    result += text.slice(from, matcher.start()) + replacement;
    from = matcher.end();
  }
  return result + text.slice(from);
}

/** Only as much as a prefix fits is replaced; all of what an exact path or an expression fits. */
function replaceMatched(path: string, to: string, match: PathCondition | undefined): string {
  const { pathname, query } = splitPath(path);
  const { prefix } = match?.value ?? { prefix: '/' };
  return prefix === undefined ? to + query : to + pathname.slice(prefix.length) + query;
}

/** Where a redirect sends a request. */
export function locationOf(action: RedirectAction, request: Request, match: PathCondition | undefined): string {
  const { scheme: sent = 'http', host, path } = request;
  const scheme = action.scheme ?? sent;
  const port = action.port === undefined ? '' : `:${action.port}`;
  const authority = action.authority ?? ownAuthority(host, sent, scheme, port !== '');
  return `${scheme}://${authority}${port}${redirectPath(action, path, match)}`;
}

/** The host of the request, without a port that would be wrong now. */
function ownAuthority(host: string, sent: string, scheme: string, isNamed: boolean): string {
  const [, port] = /:(\d+)$/.exec(host) ?? [];
  const isDefault = (sent === 'http' && port === '80') || (sent === 'https' && port === '443');
  return port !== undefined && (isNamed || (scheme !== sent && isDefault)) ? host.slice(0, -port.length - 1) : host;
}

function redirectPath(
  { path: to, prefixRewrite }: RedirectAction,
  path: string,
  match: PathCondition | undefined,
): string {
  if (prefixRewrite !== undefined) return replaceMatched(path, prefixRewrite, match);
  if (to === undefined) return path;
  return to.includes('?') ? to : to + splitPath(path).query;
}
