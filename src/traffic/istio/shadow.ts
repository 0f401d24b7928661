// Routes that are shadowed: a proxy uses the first route that matches, so earlier routes take requests from later ones.
import { baggageKey } from '../baggage.ts';
import { isSubset } from '../regex/language.ts';
import { conditionsOn, includes, regexOf } from './matches.ts';
import type { HttpMatch, HttpRoute } from './objects.ts';

/** More routes than this are not compared together, to keep plans fast. */
const MAX_TOGETHER = 8;

/** A route that takes requests from a later one, and whether that is certain or could not be decided. */
export interface Taker {
  readonly route: HttpRoute;
  readonly isCertain: boolean;
}

/** The first of the earlier routes that together take every request of the match entries; undefined if any is left. */
export function takerOf(earlier: readonly HttpRoute[], match: readonly HttpMatch[]): Taker | undefined {
  const takers = match.map((entry) => takerOfEntry(earlier, entry));
  const [first] = takers;
  if (first === undefined || takers.includes(undefined)) return undefined;
  return { route: first.route, isCertain: takers.every((taker) => taker!.isCertain) };
}

function takerOfEntry(earlier: readonly HttpRoute[], entry: HttpMatch): Taker | undefined {
  let possible: HttpRoute | undefined;
  for (const route of earlier) {
    const takes = takesAll(route, entry);
    if (takes) return { route, isCertain: true };
    if (takes === undefined) possible ??= route;
  }
  return takersTogether(earlier, entry) ?? (possible && { route: possible, isCertain: false });
}

/** The first of several routes that take all requests of an entry together: each takes some values of one header. */
function takersTogether(earlier: readonly HttpRoute[], entry: HttpMatch): Taker | undefined {
  const headers = Object.entries(entry.headers ?? {});
  for (const [name, condition] of headers) {
    // A single value, or a single key, is taken by one route or by none.
    const isSingle = condition.exact !== undefined || baggageKey(condition.regex) !== undefined;
    if (isSingle || conditionsOn(headers, name).length > 1) continue;
    const parts = earlier.flatMap((route) => {
      const { match = [], delegate } = route;
      return delegate === undefined ? match.flatMap((each) => partOf(route, each, name, entry)) : [];
    });
    if (parts.length < 2 || parts.length > MAX_TOGETHER) continue;
    const isTaken = isSubset(regexOf(condition), ...parts.map(({ regex }) => regex));
    if (isTaken) return { route: parts[0]!.route, isCertain: true };
  }
  return undefined;
}

/** The values of a header for which a match takes requests from an entry; none if it also asks for something else. */
function partOf(
  route: HttpRoute,
  match: HttpMatch,
  name: string,
  entry: HttpMatch,
): readonly { readonly route: HttpRoute; readonly regex: string }[] {
  const headers = Object.entries(match.headers ?? {});
  const [condition, ...more] = conditionsOn(headers, name);
  if (condition === undefined || more.length > 0) return [];
  const others = headers.filter((each) => each !== condition);
  if (!includes({ ...match, headers: Object.fromEntries(others) }, entry)) return [];
  return [{ route, regex: regexOf(condition[1]) }];
}

/** Whether a route matches every request of a match entry; undefined if it can't be decided. */
function takesAll({ match = [], delegate }: HttpRoute, entry: HttpMatch): boolean | undefined {
  const answers = match.length === 0 ? [true] : match.map((each) => includes(each, entry));
  if (answers.every((answer) => answer === false)) return false;
  // The routes of a delegate are not known here.
  return answers.includes(true) && delegate === undefined ? true : undefined;
}
