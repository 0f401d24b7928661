// The suite that every back end must pass: a corpus of rules and requests with the destination of each request, and
// random rules and requests, compared with a direct evaluation of the rules.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { decodeSnapshot } from '../decode/snapshot.ts';
import type { Source } from '../decode/snapshot.ts';
import type { Snapshot } from '../model.ts';

interface Request {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** The shares of virtual nodes in percent, or the status of the response. */
type Lands = Readonly<Record<string, number>> | number;

/** Where a request from the front end lands, with the output of a back end. */
export type Evaluate = (request: Request) => Lands;

interface Value {
  readonly name: string;
  readonly value?: string;
  readonly regex?: boolean;
}
interface Matcher {
  readonly prefix?: string;
  readonly exact?: string;
  readonly regex?: string;
  readonly headers?: readonly Value[];
  readonly queryParameters?: readonly Value[];
  readonly methods?: readonly string[];
}
interface Rule {
  readonly match: readonly Matcher[];
  readonly to: Readonly<Record<string, number>>;
}
interface Case {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly requests: readonly (Omit<Request, 'host'> & { readonly to: string; readonly lands: Lands })[];
}

const TESTDATA = path.join(import.meta.dirname, '../testdata');
const CASES = parse(readFileSync(path.join(TESTDATA, 'behaviour.yaml'), 'utf8')) as readonly Case[];
const SHOP = parseAllDocuments(readFileSync(path.join(TESTDATA, 'worlds/shop.yaml'), 'utf8')).map(
  (document) => document.toJS() as object,
);
const hostOf = (service: string): string => `${service}.shop.svc.cluster.local`;
const NODES: Readonly<Record<string, string>> = {
  cart: 'cart-v1-vn',
  'cart-v2': 'cart-v2-vn',
  'cart-v3': 'cart-v3-vn',
};

/** Runs the suite for a back end, given as a function from a snapshot to an evaluator of requests. */
export function behaviourSuite(backend: string, emit: (snapshot: Snapshot) => Evaluate): void {
  describe(`back end ${backend} routes requests as the rules say`, () => {
    test.each(CASES)('$name', ({ rules, requests }) => {
      const evaluate = emit(snapshotOf(rules));
      for (const { to, lands, ...request } of requests) {
        expect({ ...request, lands: evaluate({ host: hostOf(to), ...request }) }).toEqual({ ...request, lands });
      }
    });

    test('for random rules and requests', () => {
      fc.assert(
        fc.property(
          fc.array(RULE, { minLength: 1, maxLength: 5 }),
          fc.array(REQUEST, { minLength: 5 }),
          (rules, requests) => {
            const distinct = withoutSameMatches(rules);
            const evaluate = emit(snapshotOf(distinct));
            for (const request of requests) {
              expect(evaluate({ host: hostOf('cart'), ...request })).toEqual(expected(distinct, request));
            }
          },
        ),
        { numRuns: 150 },
      );
    });
  });
}

function snapshotOf(rules: readonly Rule[]): Snapshot {
  const objects = [...SHOP, ...rules.map(objectOf)];
  return decodeSnapshot(objects.map((object): Source => ({ object, where: () => 'here' }))).snapshot;
}

/** A RoutingRule for the cart. */
function objectOf({ match, to }: Rule, index: number): object {
  const upstream = (service: string): object => ({ name: `shop-${service}-8080`, namespace: 'gloo-system' });
  return {
    apiVersion: 'supergloo.solo.io/v1',
    kind: 'RoutingRule',
    metadata: { name: `r${index}`, namespace: 'shop' },
    spec: {
      targetMesh: { name: 'store', namespace: 'mesh-system' },
      destinationSelector: { upstreamSelector: { upstreams: [upstream('cart')] } },
      requestMatchers: match,
      spec: {
        trafficShifting: {
          destinations: {
            destinations: Object.entries(to).map(([service, weight]) => ({
              destination: { upstream: upstream(service) },
              weight,
            })),
          },
        },
      },
    },
  };
}

const VALUE = fc.record(
  { name: fc.constantFrom('a', 'b'), value: fc.constantFrom('1', '2') },
  { requiredKeys: ['name'] },
);
const MATCHER: fc.Arbitrary<Matcher> = fc
  .tuple(
    fc.oneof(
      fc.record({ prefix: fc.constantFrom('/', '/x', '/x/y', '/xy') }),
      fc.record({ exact: fc.constantFrom('/x', '/x/y') }),
      fc.record({ regex: fc.constantFrom('/.*', '/x/?', '/[xy]+') }),
    ),
    fc.record(
      {
        headers: fc.uniqueArray(VALUE, { maxLength: 2, selector: ({ name }) => name }),
        queryParameters: fc.uniqueArray(VALUE, { maxLength: 1, selector: ({ name }) => name }),
        methods: fc.uniqueArray(fc.constantFrom('GET', 'POST'), { maxLength: 2 }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([one, rest]) => ({ ...one, ...rest }));
const WEIGHT = fc.nat({ max: 7 });
const RULE: fc.Arbitrary<Rule> = fc
  .record({
    match: fc.array(MATCHER, { minLength: 1, maxLength: 3 }),
    to: fc.record({ cart: WEIGHT, 'cart-v2': WEIGHT, 'cart-v3': WEIGHT }),
  })
  .filter(({ to }) => Object.values(to).some((weight) => weight > 0));
const VALUES = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2', '3'), { noNullPrototype: true });
const REQUEST: fc.Arbitrary<Omit<Request, 'host'>> = fc.record({
  path: fc.constantFrom('/', '/x', '/x/', '/x/y', '/xy', '/z', '/yx'),
  method: fc.constantFrom('GET', 'POST', 'PUT'),
  headers: VALUES,
  query: VALUES,
});

/** Drops equal matches, as it is not defined which of them wins. */
function withoutSameMatches(rules: readonly Rule[]): readonly Rule[] {
  const seen = new Set<string>();
  return rules
    .map((rule) => ({
      ...rule,
      match: rule.match.filter((matcher) => {
        const key = JSON.stringify([
          matcher.prefix,
          matcher.exact,
          matcher.regex,
          [...(matcher.headers ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)),
          matcher.queryParameters ?? [],
          [...(matcher.methods ?? [])].sort(),
        ]);
        return !seen.has(key) && seen.add(key);
      }),
    }))
    .filter(({ match }) => match.length > 0);
}

/** The common prefix of all paths of a regular expression. */
const BEGINNINGS: Readonly<Record<string, string>> = { '/.*': '/', '/x/?': '/x', '/[xy]+': '/' };

/**
 * The result by the rules: exact paths first, then the longest prefix; a regular expression before its common prefix;
 * then more conditions; then the order of the rules.
 */
function expected(rules: readonly Rule[], request: Omit<Request, 'host'>): Lands {
  const candidates = rules.flatMap(({ match, to }) =>
    match.filter((each) => fits(each, request)).map((each) => ({ each, to })),
  );
  const rank = ({ prefix, exact, regex = '', headers = [], queryParameters = [], methods = [] }: Matcher): number => {
    const beginning = prefix ?? BEGINNINGS[regex] ?? '';
    const byPath = exact === undefined ? 2 * beginning.length + (prefix === undefined ? 1 : 0) : 100;
    return byPath * 10 + headers.length + queryParameters.length + (methods.length > 0 ? 1 : 0);
  };
  const [best] = candidates.toSorted((a, b) => rank(b.each) - rank(a.each));
  if (best === undefined) return rules.length === 0 ? { [NODES['cart']!]: 100 } : 404;
  const all = Object.entries(best.to);
  const total = all.reduce((sum, [, weight]) => sum + weight, 0);
  const shares = all.map(([service, weight]): [string, number] => [
    NODES[service]!,
    Math.floor((weight * 100) / total),
  ]);
  const first = shares[all.findIndex(([, weight]) => weight > 0)]!;
  first[1] += 100 - shares.reduce((sum, [, share]) => sum + share, 0);
  return Object.fromEntries(shares.filter(([, share]) => share > 0));
}

function fits(
  matcher: Matcher,
  { path: at, method = 'GET', headers = {}, query = {} }: Omit<Request, 'host'>,
): boolean {
  const { prefix, exact, regex, headers: headerMatchers = [], queryParameters = [], methods = [] } = matcher;
  const has =
    (values: Readonly<Record<string, string>>) =>
    ({ name, value }: Value): boolean =>
      name in values && (value === undefined || values[name] === value);
  return (
    (prefix === undefined || at.startsWith(prefix)) &&
    (exact === undefined || at === exact) &&
    (regex === undefined || new RegExp(`^(?:${regex})$`).test(at)) &&
    (methods.length === 0 || methods.includes(method)) &&
    headerMatchers.every(has(headers)) &&
    queryParameters.every(has(query))
  );
}
