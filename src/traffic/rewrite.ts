// The path after the rewrite of a route, and the location of a redirect.
import { RE2JS } from 're2js';
import type { Request } from './request.ts';
import { splitPath } from './request.ts';
import type { PathCondition, RedirectAction, Rewrite } from './rules.ts';

/** The path that the workload gets, with the query. */
export function rewrittenPath(path: string, rewrite: Rewrite | undefined, fits: PathCondition | undefined): string {
  if (rewrite === undefined) return path;
  if (rewrite.path !== undefined) return replaceMatched(path, rewrite.path, fits);
  const { pathname, query } = splitPath(path);
  const { match, rewrite: to } = rewrite.regex!;
  return replaceAll(pathname, match, to) + query;
}

/** In a substitution of Envoy, only `\1` and the like refer to groups. */
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

/** A prefix match replaces only the prefix; an exact path or a regular expression replaces the whole path. */
function replaceMatched(path: string, to: string, match: PathCondition | undefined): string {
  const { pathname, query } = splitPath(path);
  const { prefix } = match?.value ?? { prefix: '/' };
  return prefix === undefined ? to + query : to + pathname.slice(prefix.length) + query;
}

/** The location that a redirect sends a request to. */
export function locationOf(action: RedirectAction, request: Request, match: PathCondition | undefined): string {
  const { scheme: sent = 'http', host, path } = request;
  const scheme = action.scheme ?? sent;
  const port = action.port === undefined ? '' : `:${action.port}`;
  const authority = action.authority ?? ownAuthority(host, sent, scheme, port !== '');
  return `${scheme}://${authority}${port}${redirectPath(action, path, match)}`;
}

/** The host of the request, without its port if the port no longer applies. */
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
