// The order of the routes of a host: a request takes the most specific one. Every back end writes routes in this order.
import { commonBeginning, isSubset } from '../../traffic/regex/language.ts';
import type { Match, Route, ValueMatch } from '../model.ts';

/**
 * The most specific routes first: exact paths, then the longest prefix. A regular expression counts as the common
 * prefix of its paths, and comes before that prefix, so that the prefix does not take all its requests. If paths are
 * equal, more conditions come first, then the order of the rules.
 */
export function inOrder(routes: readonly Route[]): readonly Route[] {
  const ranked = routes.map((route) => ({ route, rank: specificity(route.match) }));
  return ranked.sort((a, b) => compare(a.rank, b.rank)).map(({ route }) => route);
}

/** Every path begins with a slash, whatever the regular expression allows. */
const beginningOf = ({ kind, value }: Match['path']): string =>
  kind === 'regex' ? commonBeginning(value) || '/' : value;

const PATH_ORDER = { exact: 0, prefix: 1, regex: 1 } as const;

function specificity({ path, headers, query, methods }: Match): readonly number[] {
  const conditions = headers.length + query.length + (methods.length > 0 ? 1 : 0);
  const length = path.kind === 'exact' ? 0 : beginningOf(path).length;
  return [PATH_ORDER[path.kind], -length, path.kind === 'regex' ? 0 : 1, -conditions];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const i = a.findIndex((value, index) => value !== b[index]);
  return i < 0 ? 0 : a[i]! - b[i]!;
}

/** The maximum number of comparisons, to keep plans fast. */
const MAX_COMPARED = 1_000;

/** Routes that get no requests, because an earlier one takes them all. Equal matches are not reported here. */
export function shadowed(routes: readonly Route[]): readonly { readonly route: Route; readonly by: Route }[] {
  if (!routes.some(({ match }) => match.path.kind === 'regex')) return [];
  const found: { route: Route; by: Route }[] = [];
  const before: { readonly route: Route; readonly beginning: string }[] = [];
  let compared = 0;
  for (const route of inOrder(routes)) {
    const { match } = route;
    const beginning = beginningOf(match.path);
    const by = before.find(
      (each) =>
        beginning.startsWith(each.beginning) &&
        hasNoOtherConditions(each.route.match, match) &&
        compared++ < MAX_COMPARED &&
        takesAll(each.route.match, match),
    );
    if (by !== undefined) found.push({ route, by: by.route });
    // Exact paths and prefixes never shadow each other in this order.
    if (match.path.kind === 'regex') before.push({ route, beginning });
  }
  return found;
}

function takesAll({ path: wide }: Match, { path: narrow }: Match): boolean {
  if (narrow.kind === 'regex' && narrow.value === wide.value) return false;
  // Texts that do not start with a slash are not paths, and do not matter.
  return isSubset(languageOf(narrow), `(?:${wide.value})|(?:[^/].*)?`) === true;
}

/** The paths of a route as a regular expression. */
function languageOf({ kind, value }: Match['path']): string {
  const literal = value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return kind === 'regex' ? value : kind === 'exact' ? literal : `${literal}.*`;
}

/** Whether the other conditions of the narrow match imply those of the wide one. */
function hasNoOtherConditions(wide: Match, narrow: Match): boolean {
  const isAmong = (all: readonly ValueMatch[]) => (each: ValueMatch) =>
    all.some(({ name, value, regex }) => name === each.name && value === each.value && regex === each.regex);
  return (
    wide.headers.every(isAmong(narrow.headers)) &&
    wide.query.every(isAmong(narrow.query)) &&
    (wide.methods.length === 0 ||
      (narrow.methods.length > 0 && narrow.methods.every((method) => wide.methods.includes(method))))
  );
}
