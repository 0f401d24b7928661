// Whether a request matches a rule, and if not, which condition fails first.
import type { HeaderMatch } from './istio/objects.ts';
import { matchesRegex } from './regex/regex.ts';
import { headerValues, isGatewaySource, queryValue, splitPath } from './request.ts';
import type { Request } from './request.ts';
import type { HeaderCondition, PathCondition, Rule, RuleMatch } from './rules.ts';

/** Why a rule does not match a request. */
export type Mismatch =
  /** The rule is not sent to the proxy, or Envoy refuses it. */
  | { readonly on: 'excluded' | 'refused'; readonly reason: string }
  | { readonly on: 'source'; readonly wanted: NonNullable<RuleMatch['source']> }
  | { readonly on: 'path'; readonly wanted: PathCondition; readonly found: string }
  | { readonly on: 'header'; readonly wanted: HeaderCondition; readonly found: readonly string[] }
  | { readonly on: 'query'; readonly name: string; readonly wanted: HeaderMatch; readonly found: string | undefined };

/** Why istiod does not send a rule to the proxy of a caller; undefined if it does. */
export function exclusionFor({ excluded, match: { source } }: Rule, request: Request): Mismatch | undefined {
  if (excluded !== undefined) return { on: 'excluded', reason: excluded };
  if (source === undefined) return undefined;
  const { source: caller } = request;
  // For gateways the compiler has already checked the source.
  if (isGatewaySource(caller)) return undefined;
  const isFrom = source.namespace === undefined || source.namespace === caller.namespace;
  const labels = Object.entries(source.labels ?? {});
  return isFrom && labels.every(([name, value]) => caller.labels?.[name] === value)
    ? undefined
    : { on: 'source', wanted: source };
}

/** The first condition that a request fails, for a rule that its proxy has; undefined if the rule matches. */
export function mismatchOf(
  { refused, match }: Rule,
  request: Request,
  { pathname, query } = splitPath(request.path),
): Mismatch | undefined {
  if (refused !== undefined) return { on: 'refused', reason: refused };
  const { path } = match;
  if (path !== undefined && !matchesPath(path, pathname)) return { on: 'path', wanted: path, found: pathname };
  for (const condition of match.headers) {
    const found = headerValues(request, condition.name);
    if (!matchesHeader(condition, found)) return { on: 'header', wanted: condition, found };
  }
  for (const { name, value } of match.query) {
    const found = queryValue(query, name);
    if (found === undefined || !matchesText(value, found)) return { on: 'query', name, wanted: value, found };
  }
  return undefined;
}

/** Each value of a repeated header is matched on its own. */
export function matchesHeader({ value, negated }: HeaderCondition, found: readonly string[]): boolean {
  // For a negated condition an absent header counts as empty, unless the condition is only about presence.
  if (negated && found.length === 0 && !isPresence(value)) return !matchesText(value, '');
  for (const each of found) if (matchesText(value, each)) return !negated;
  return negated;
}

export function matchesPath({ value: { exact, prefix, regex }, ignoreCase }: PathCondition, pathname: string): boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (exact !== undefined) return fold(pathname) === fold(exact);
  if (prefix !== undefined) return fold(pathname).startsWith(fold(prefix));
  return matchesRegex(regex!, pathname);
}

export function matchesText(match: HeaderMatch, value: string): boolean {
  const { exact, prefix, regex } = match;
  if (isPresence(match)) return true;
  if (exact !== undefined) return value === exact;
  return prefix === undefined ? matchesRegex(regex!, value) : value.startsWith(prefix);
}

export function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && prefix === undefined && regex === undefined;
}
