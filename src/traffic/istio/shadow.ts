// Which requests earlier routes take away from later ones: a proxy goes by the first route that fits.
import { includes } from './matches.ts';
import type { HttpMatch, HttpRoute } from './objects.ts';

/** A route that takes requests from a later one, and whether that is certain or could not be decided. */
export interface Taker {
  readonly route: HttpRoute;
  readonly isCertain: boolean;
}

/** The first of the earlier routes that together take every request of some match entries; undefined if any is left. */
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
  return possible && { route: possible, isCertain: false };
}

/** Whether a route fits every request of a match entry; undefined where it can't be decided. */
function takesAll({ match = [], delegate }: HttpRoute, entry: HttpMatch): boolean | undefined {
  const answers = match.length === 0 ? [true] : match.map((each) => includes(each, entry));
  if (answers.every((answer) => answer === false)) return false;
  // What a delegate's routes fit is not told here.
  return answers.includes(true) && delegate === undefined ? true : undefined;
}
