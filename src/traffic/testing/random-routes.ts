// Random routes with every kind of condition and action, from few words, so that requests match them often. Nothing
// that Envoy refuses (an empty prefix or regular expression) is generated.
import * as fc from 'fast-check';
import type { HeaderMatch, HttpMatch, HttpRoute, RouteHeaders } from '../istio/objects.ts';

/** Words that routes and requests share. */
export interface Words {
  readonly namespaces: readonly string[];
  readonly ports: readonly number[];
  readonly gateways: readonly string[];
  /** Hosts that a request may call. */
  readonly authorities: readonly string[];
  readonly sourceLabels: readonly Readonly<Record<string, string>>[];
  /** Hosts that a route may lead to. */
  readonly destinations: readonly string[];
  readonly subsets: readonly string[];
}

/** Generates a value once in `times`, else undefined: with all conditions set, hardly any request would match. */
export const sometimes = <T>(arbitrary: fc.Arbitrary<T>, times = 3): fc.Arbitrary<T | undefined> =>
  fc.oneof({ arbitrary, weight: 1 }, { arbitrary: fc.constant(undefined), weight: times - 1 });

/** Drops the fields that are undefined. */
export const present = <T extends object>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  arbitrary.map(
    (fields) => Object.fromEntries(Object.entries(fields).filter(([, each]) => each !== undefined)) as unknown as T,
  );

type Condition = fc.Arbitrary<HeaderMatch>;

const condition = (exact: readonly string[], prefix: readonly string[], regex: readonly string[]): Condition =>
  fc.oneof(
    fc.record({ exact: fc.constantFrom(...exact) }),
    fc.record({ prefix: fc.constantFrom(...prefix) }),
    fc.record({ regex: fc.constantFrom(...regex) }),
  );

const value = condition(
  ['', 'a', 'ab', 'A', 'b,a'],
  ['a', 'A', 'ab'],
  ['a.*', '.*b', '(?i)ab', '.*', 'a?', '*', 'a|b'],
);
const conditions = fc.oneof({ arbitrary: value, weight: 5 }, { arbitrary: fc.constant<HeaderMatch>({}), weight: 1 });
const headerNames = fc.constantFrom('x-user', 'X-User', 'x-other', 'host', ':path');
const headers = fc.dictionary(headerNames, conditions, { maxKeys: 2 });
const sourced = (words: Words) => ({
  port: sometimes(fc.constantFrom(...words.ports), 5),
  sourceLabels: sometimes(fc.constantFrom(...words.sourceLabels), 5),
  sourceNamespace: sometimes(fc.constantFrom(...words.namespaces), 5),
  gateways: sometimes(fc.subarray(['mesh', ...words.gateways], { minLength: 1, maxLength: 2 }), 5),
});

function entry(words: Words): fc.Arbitrary<HttpMatch> {
  const fields = fc.record({
    name: sometimes(fc.constantFrom('m', 'n'), 8),
    headers: sometimes(headers, 2),
    withoutHeaders: sometimes(headers),
    uri: sometimes(condition(['/', '/a', '/A/b'], ['/', '/a', '/A', '/a/'], ['/a.*', '/[ab]', '.*', '(?i)/A'])),
    ignoreUriCase: sometimes(fc.boolean()),
    scheme: sometimes(condition(['http', 'https'], ['http'], ['https?', '*']), 6),
    method: sometimes(condition(['GET', 'POST', 'get'], ['P', 'G'], ['GET|PUT', '*']), 6),
    authority: sometimes(
      condition(words.authorities, ['s', 'S', 'x'], ['.*svc.*', '(?i)S.*', String.raw`s\d+\.shop`]),
      6,
    ),
    queryParams: sometimes(fc.dictionary(fc.constantFrom('q', 'Q', 'r'), conditions, { maxKeys: 2 }), 6),
    ...sourced(words),
  });
  return present(fields as fc.Arbitrary<HttpMatch>);
}

const operations = present(
  fc.record({
    set: sometimes(fc.dictionary(fc.constantFrom('x-a', 'X-B', 'x-user'), fc.constantFrom('1', '2'), { maxKeys: 2 })),
    add: sometimes(fc.dictionary(fc.constantFrom('x-a', 'x-b', 'x-other'), fc.constantFrom('3', '4'), { maxKeys: 2 })),
    remove: sometimes(fc.subarray(['x-a', 'x-user', 'X-Other'])),
  }),
);

const routeHeaders = present(fc.record({ request: sometimes(operations, 2), response: sometimes(operations, 2) }));
const withHost = fc.record({ request: fc.constant({ set: { Host: 'h.example.com' } }) });
const changes = sometimes(
  fc.oneof({ arbitrary: routeHeaders, weight: 5 }, { arbitrary: withHost, weight: 1 }) as fc.Arbitrary<RouteHeaders>,
);

function destination(words: Words) {
  return present(
    fc.record({
      host: fc.constantFrom(...words.destinations),
      subset: sometimes(fc.constantFrom(...words.subsets), 2),
      port: sometimes(
        fc.constantFrom(...words.ports).map((number) => ({ number })),
        4,
      ),
    }),
  ) as fc.Arbitrary<NonNullable<HttpRoute['mirror']>>;
}

function routing(words: Words): fc.Arbitrary<HttpRoute> {
  const target = present(fc.record({ destination: destination(words), headers: changes }));
  const weighted = (least: number) =>
    target.chain((each) => fc.nat(2).map((weight) => ({ ...each, weight: weight + least })));
  const destinations = fc.oneof(
    { arbitrary: target.map((each) => [each]), weight: 3 },
    { arbitrary: fc.tuple(weighted(1), weighted(0)), weight: 1 },
  );
  const rewrite = fc.oneof(
    present(
      fc.record({
        uri: sometimes(fc.constantFrom('/', '/new', '/new/'), 2),
        authority: sometimes(fc.constantFrom('other.example.com'), 3),
      }),
    ),
    fc.constantFrom(
      { uriRegexRewrite: { match: '/(a|b)(.*)', rewrite: String.raw`/x\2/\1` } },
      { uriRegexRewrite: { match: 'a', rewrite: '$1' } },
    ),
  );
  return present(
    fc.record({
      route: destinations,
      rewrite: sometimes(rewrite),
      timeout: sometimes(fc.constantFrom('10s'), 4),
      retries: sometimes(fc.constantFrom({ attempts: 0 }, { attempts: 1, retryOn: '5xx,reset' }), 4),
      mirror: sometimes(destination(words), 6),
      mirrorPercentage: sometimes(fc.constantFrom({ value: 0 }, { value: 50 }), 4),
    }),
  );
}

const redirecting: fc.Arbitrary<HttpRoute> = fc.record({
  redirect: present(
    fc.record({
      uri: sometimes(fc.constantFrom('/moved', '/moved?x=1'), 2),
      authority: sometimes(fc.constantFrom('moved.example.com'), 2),
      scheme: sometimes(fc.constantFrom('https', 'http')),
      port: sometimes(fc.constantFrom(80, 443, 8443)),
      redirectCode: sometimes(fc.constantFrom(301, 302, 303, 307, 308), 2),
    }),
  ),
});

const prefixRedirecting: fc.Arbitrary<HttpRoute> = fc.constantFrom(
  { redirect: { prefixRewrite: '/moved' } },
  { redirect: { prefixRewrite: '/m/', derivePort: 'FROM_REQUEST_PORT' } },
);

const responding: fc.Arbitrary<HttpRoute> = fc.constantFrom(
  { directResponse: { status: 200 } },
  { directResponse: { status: 418, body: { string: 'short' } } },
);

/** Routes that set a response header with their name. */
export function routes(name: string, words: Words): fc.Arbitrary<readonly HttpRoute[]> {
  const action = fc.oneof(
    { arbitrary: responding, weight: 3 },
    { arbitrary: routing(words), weight: 5 },
    { arbitrary: redirecting, weight: 2 },
    { arbitrary: prefixRedirecting, weight: 1 },
  );
  const fault = sometimes(
    fc.constantFrom(
      { abort: { httpStatus: 555, percentage: { value: 100 } } },
      { abort: { httpStatus: 555 } },
      {
        abort: { httpStatus: 555, percentage: { value: 0 } },
        delay: { fixedDelay: '0.001s', percentage: { value: 100 } },
      },
    ),
    6,
  );
  const route = fc.record({ match: fc.array(entry(words), { maxLength: 2 }), action, fault, headers: changes });
  return fc.array(route, { minLength: 1, maxLength: 3 }).map((list) =>
    list.map(({ match, action, fault, headers: own }, i): HttpRoute => {
      const response = { ...own?.response, set: { ...own?.response?.set, 'x-route': `${name}-${i}` } };
      return {
        name: `${name}-${i}`,
        ...(match.length > 0 && { match }),
        ...action,
        ...(fault && { fault }),
        headers: { ...own, response },
      };
    }),
  );
}
