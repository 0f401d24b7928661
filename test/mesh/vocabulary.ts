// Random VirtualServices and requests over everything that a match can ask for, from few words, so that they meet often.
import * as fc from 'fast-check';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import type { Match } from '../../src/traffic/evaluate.ts';
import type { Question } from './ask.ts';

export const NAMESPACE = 'shop';
export const PORTS = [8000, 8001] as const;
const INGRESS = 'istio-system/ingress';

/** Who asks: two pods and the edge, with what istiod knows of them. */
export const ASKERS = {
  web: { gateway: 'mesh', namespace: NAMESPACE, labels: { app: 'web', tier: 'x' } },
  test: { gateway: 'mesh', namespace: 'depot', labels: { app: 'test' } },
  ingress: { gateway: INGRESS, namespace: 'istio-system', labels: { istio: 'ingress' } },
} as const;

/** One of some conditions on a text. What Envoy refuses (an empty prefix or expression) is not among them. */
const condition = (exact: readonly string[], prefix: readonly string[], regex: readonly string[]) =>
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
const conditions = fc.oneof({ arbitrary: value, weight: 5 }, { arbitrary: fc.constant({}), weight: 1 });
const headers = fc.dictionary(fc.constantFrom('x-user', 'X-User', 'x-other'), conditions, { maxKeys: 2 });

/** Fields that are mostly absent, so that routes are not all out of reach. */
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

const entry: fc.Arbitrary<Match> = fc
  .record({
    headers: fc.option(headers, { nil: undefined }),
    withoutHeaders: sometimes(headers),
    uri: sometimes(condition(['/', '/a', '/A/b'], ['/', '/a', '/A'], ['/a.*', '/[ab]', '.*', '(?i)/A'])),
    ignoreUriCase: sometimes(fc.boolean()),
    scheme: sometimes(condition(['http', 'https'], ['http'], ['https?', '*'])),
    method: sometimes(condition(['GET', 'POST', 'get'], ['P', 'G'], ['GET|PUT', '*'])),
    authority: sometimes(
      condition(['v1.shop', 'v2.shop.svc'], ['v', 'V'], ['.*svc.*', '(?i)V.*', String.raw`v\d+\.shop`]),
    ),
    queryParams: sometimes(fc.dictionary(fc.constantFrom('q', 'Q', 'r'), conditions, { maxKeys: 2 })),
    port: sometimes(fc.constantFrom(...PORTS)),
    sourceLabels: sometimes(
      fc.constantFrom({ app: 'web' }, { app: 'test' }, { app: 'web', tier: 'x' }, { istio: 'ingress' }),
    ),
    sourceNamespace: sometimes(fc.constantFrom(NAMESPACE, 'depot', 'istio-system')),
    gateways: sometimes(fc.constantFrom(['mesh'], [INGRESS], ['mesh', INGRESS], ['istio-system/other'])),
  })
  .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, each]) => each !== undefined)));

const matches = fc.array(entry, { maxLength: 2 });

/** Routes that say which they are in a header of their answer. */
const answering = (name: string) =>
  fc.array(matches, { minLength: 1, maxLength: 4 }).map((list) =>
    list.map((match, i): HttpRoute => ({
      name: `${name}-${i}`,
      ...(match.length > 0 && { match }),
      directResponse: { status: 200 },
      headers: { response: { set: { 'x-route': `${name}-${i}` } } },
    })),
  );

export interface Round {
  /** By name of the Service. */
  readonly roots: ReadonlyMap<string, readonly HttpRoute[]>;
  /** By name of the VirtualService. */
  readonly delegates: ReadonlyMap<string, readonly HttpRoute[]>;
  readonly questions: readonly AskedQuestion[];
}

/** VirtualServices with their delegates, and questions to each. */
export function round(services: number, questionsEach: number): fc.Arbitrary<Round> {
  const names = Array.from({ length: services }, (_none, i) => `v${i}`);
  const delegateNames = Array.from({ length: Math.ceil(services / 4) }, (_none, i) => `d${i}`);
  const root = (name: string) =>
    fc
      .tuple(
        answering(name),
        fc.array(sometimes(fc.constantFrom(...delegateNames, 'd-missing')), { minLength: 4, maxLength: 4 }),
      )
      .map(([http, targets]) =>
        http.map((route, i) => (targets[i] === undefined ? route : delegating(route, targets[i]))),
      );
  return fc
    .tuple(
      fc.tuple(...names.map(root)),
      fc.tuple(...delegateNames.map(answering)),
      fc.tuple(
        ...names.map((name) => fc.array(question(name), { minLength: questionsEach, maxLength: questionsEach })),
      ),
    )
    .map(([roots, delegates, questions]) => ({
      roots: new Map(names.map((name, i) => [name, roots[i]!])),
      delegates: new Map(delegateNames.map((name, i) => [name, delegates[i]!])),
      questions: questions.flat(),
    }));
}

function delegating({ match }: HttpRoute, name: string): HttpRoute {
  return { ...(match && { match }), delegate: { name } };
}

export interface AskedQuestion {
  readonly asker: keyof typeof ASKERS;
  readonly service: string;
  readonly question: Question & {
    readonly host: string;
    readonly port: number;
    readonly path: string;
    readonly method: string;
  };
}

function question(service: string): fc.Arbitrary<AskedQuestion> {
  const full = `${service}.${NAMESPACE}.svc.cluster.local`;
  const sent = fc.array(
    fc.tuple(fc.constantFrom('x-user', 'X-USER', 'x-other'), fc.constantFrom('', 'a', 'ab', 'A', 'b', 'b,a')),
    { maxLength: 3 },
  );
  return fc
    .record({
      asker: fc.constantFrom('web', 'test', 'ingress'),
      host: fc.constantFrom(
        `${service}.${NAMESPACE}`,
        `${service}.${NAMESPACE}.svc`,
        full,
        `${full}:8000`,
        full.toUpperCase(),
      ),
      port: fc.constantFrom(...PORTS),
      path: fc.tuple(
        fc.constantFrom('/', '/a', '/A', '/a/b', '/A/B', '/ab', '/b'),
        fc.constantFrom('', '?', '?q', '?q=', '?q=a', '?q=b&q=a', '?Q=ab', '?q=%61', '?r=a&q=ab', '?q=a?b'),
      ),
      method: fc.constantFrom('GET', 'POST', 'PUT'),
      headers: sent,
    })
    .map(({ asker, host, port, path, ...rest }) => ({
      asker,
      service,
      // The edge knows a Service by its full name only, and listens on one port.
      question: {
        ...rest,
        path: path.join(''),
        ...(asker === 'ingress' ? { host: full, port: PORTS[0] } : { host, port }),
      },
    }));
}
