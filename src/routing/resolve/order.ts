// Which of the routes of a host a request takes: the most specific one. Every back end writes routes so that this holds.
import { commonBeginning, isSubset } from '../../traffic/regex-language.ts';
import type { Match, Route, ValueMatch } from '../model.ts';

/**
 * The most specific routes first: exact paths, then the longest prefix. A regular expression counts as the prefix that all
 * its paths begin with, and comes before that very prefix, so that no prefix takes all its requests. Of equal paths the
 * one with more conditions comes first, then the one that was written first.
 */
export function inOrder(routes: readonly Route[]): readonly Route[] {
  const ranked = routes.map((route) => ({ route, rank: specificity(route.match) }));
  return ranked.sort((a, b) => compare(a.rank, b.rank)).map(({ route }) => route);
}

/** Every path begins with a slash, whatever a regular expression says. */
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

/** How many pairs of paths are compared at most: plans must stay quick. */
const MOST_COMPARED = 1_000;

/** Routes that no request takes, because one before them takes them all; of equal matches nothing is said here. */
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
        compared++ < MOST_COMPARED &&
        takesAll(each.route.match, match),
    );
    if (by !== undefined) found.push({ route, by: by.route });
    // Between exact paths and prefixes the order itself leaves something to each.
    if (match.path.kind === 'regex') before.push({ route, beginning });
  }
  return found;
}

function takesAll({ path: wide }: Match, { path: narrow }: Match): boolean {
  if (narrow.kind === 'regex' && narrow.value === wide.value) return false;
  // What is no path does not matter.
  return isSubset(languageOf(narrow), `(?:${wide.value})|(?:[^/].*)?`) === true;
}

/** The paths of a route as a regular expression. */
function languageOf({ kind, value }: Match['path']): string {
  const literal = value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return kind === 'regex' ? value : kind === 'exact' ? literal : `${literal}.*`;
}

/** Whether whatever fits the conditions of the second fits those of the first. */
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
