// Whether a request fits a rule, and if not, on what they differ first.
import type { HeaderMatch } from './istio/objects.ts';
import { fitsRegex } from './regex.ts';
import { headerValues, isGatewaySource, queryValue, splitPath } from './request.ts';
import type { Request } from './request.ts';
import type { HeaderCondition, PathCondition, Rule, RuleMatch } from './rules.ts';

/** Why a rule does not take a request. */
export type Mismatch =
  /** The proxy is not told of the rule, or Envoy refuses it. */
  | { readonly on: 'excluded' | 'refused'; readonly reason: string }
  | { readonly on: 'source'; readonly wanted: NonNullable<RuleMatch['source']> }
  | { readonly on: 'path'; readonly wanted: PathCondition; readonly found: string }
  | { readonly on: 'header'; readonly wanted: HeaderCondition; readonly found: readonly string[] }
  | { readonly on: 'query'; readonly name: string; readonly wanted: HeaderMatch; readonly found: string | undefined };

/** Why the proxy of a caller is not told of a rule; undefined if it is. */
export function exclusionFor({ excluded, match: { source } }: Rule, request: Request): Mismatch | undefined {
  if (excluded !== undefined) return { on: 'excluded', reason: excluded };
  if (source === undefined) return undefined;
  const { source: caller } = request;
  // At a gateway it has been looked at already.
  if (isGatewaySource(caller)) return undefined;
  const isFrom = source.namespace === undefined || source.namespace === caller.namespace;
  const labels = Object.entries(source.labels ?? {});
  return isFrom && labels.every(([name, value]) => caller.labels?.[name] === value)
    ? undefined
    : { on: 'source', wanted: source };
}

/** What a request lacks for a rule that its proxy gets; undefined if it fits. */
export function mismatchOf(
  { refused, match }: Rule,
  request: Request,
  { pathname, query } = splitPath(request.path),
): Mismatch | undefined {
  if (refused !== undefined) return { on: 'refused', reason: refused };
  const { path } = match;
  if (path !== undefined && !fitsPath(path, pathname)) return { on: 'path', wanted: path, found: pathname };
  for (const wanted of match.headers) {
    const found = headerValues(request, wanted.name);
    if (!fitsHeader(wanted, found)) return { on: 'header', wanted, found };
  }
  for (const { name, value: wanted } of match.query) {
    const found = queryValue(query, name);
    if (found === undefined || !fitsText(wanted, found)) return { on: 'query', name, wanted, found };
  }
  return undefined;
}

/** Each value of a header that comes more than once is looked at by itself. */
export function fitsHeader({ value, negated }: HeaderCondition, found: readonly string[]): boolean {
  // What must not be there counts as empty if it is not, unless only its presence is asked for.
  if (negated && found.length === 0 && !isPresence(value)) return !fitsText(value, '');
  for (const each of found) if (fitsText(value, each)) return !negated;
  return negated;
}

export function fitsPath({ value: { exact, prefix, regex }, ignoreCase }: PathCondition, pathname: string): boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (exact !== undefined) return fold(pathname) === fold(exact);
  if (prefix !== undefined) return fold(pathname).startsWith(fold(prefix));
  return fitsRegex(regex!, pathname);
}

export function fitsText(wanted: HeaderMatch, value: string): boolean {
  const { exact, prefix, regex } = wanted;
  if (isPresence(wanted)) return true;
  if (exact !== undefined) return value === exact;
  return prefix === undefined ? fitsRegex(regex!, value) : value.startsWith(prefix);
}

export function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && prefix === undefined && regex === undefined;
}
