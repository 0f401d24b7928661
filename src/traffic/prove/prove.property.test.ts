// For random worlds and environments: a proof holds for every request that is tried, and a refutation comes with a
// request that confirms it. OFFSHOOT_TRIPLES=N tries N requests instead of the default 200,000.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { createRouter, prove, worldOf } from '../index.ts';
import type { Decision, Proof, Request } from '../index.ts';
import { unusable } from '../istio/unusable.ts';
import { aimAt, aimedRequest, randomFrom } from '../testing/aimed-requests.ts';
import { matchesConditions } from '../testing/naive-routes.ts';
import { DEFAULT_VERSION, HOST, keys, objectsOf, OTHER, VERSION, WAYS, worlds } from '../testing/random-environment.ts';
import type { RandomEnvironment, Way } from '../testing/random-environment.ts';
import { CALLERS } from '../testing/random-world.ts';

const TRIPLES = Number(process.env['OFFSHOOT_TRIPLES'] ?? 200_000);
/** The number of requests that are tried in a world. */
const EACH = 150;
/** The Host headers of the requests. */
const HOSTS = [
  HOST,
  HOST,
  's0',
  's0.shop',
  's0.shop.svc',
  `${HOST}:8000`,
  `${HOST}.`,
  't0.depot',
  'x.s0.test',
  'y.s0.test',
  'z.s0.test',
  's0.test',
];

/** A random environment whose routes are written in a given way. */
function environmentOf(way: Way): fc.Arbitrary<RandomEnvironment> {
  return fc
    .record({
      written: worlds,
      keys,
      others: fc.option(keys, { nil: undefined, freq: way === 'owned by prefix' ? 10 : 2 }),
      hasPods: fc.boolean(),
    })
    .map((each) => ({ ...each, way }));
}

/** The part of a decision that a caller can observe. */
function observable({ considered: _considered, rule: _rule, superseded: _superseded, ...rest }: Decision): unknown {
  return rest;
}

function carries(request: Request, matches: readonly IstioMatch[]): boolean {
  const { source, headers = {}, path, method = 'GET' } = request;
  const labels = 'gateway' in source ? CALLERS.ingress.labels : (source.labels ?? {});
  return matches.some(
    (match) => unusable(match) === undefined && matchesConditions(match, { headers, path, method, labels }),
  );
}

/** Whether a decision is allowed: a second, independent implementation of what a proof states. */
function isAllowed(request: Request, own: readonly IstioMatch[], before: Decision, after: Decision): boolean {
  if (jsonEqual(observable(before), observable(after))) return true;
  if (!carries(request, own)) return false;
  if (after.kind === 'response') return after.reason === 'FaultAbort' && before.kind === 'response';
  if (before.kind !== 'route' || after.kind !== 'route') return false;
  const isBase = before.destinations.some(({ host, subset }) => host === HOST && subset === DEFAULT_VERSION);
  const isOthers = before.destinations.every(({ subset }) => subset === OTHER);
  const [was, is] = [before, after].map(({ destinations: _all, status: _status, ...each }) =>
    observable(each as Decision),
  );
  const isSame = jsonEqual(was, is);
  return (isBase || isOthers) && isSame && after.destinations.every(({ subset }) => subset === VERSION);
}

interface Tried {
  readonly proof: Proof;
  /** Whether the environment has routes. */
  readonly isRouted: boolean;
  /** The decision about each request with the environment. */
  readonly decisions: readonly Decision[];
}

/** Proves an environment, and tries requests in the world with and without it. */
function tryOut(environment: RandomEnvironment, seed: number): Tried {
  const { before, after, changed } = objectsOf(environment);
  const [was, is] = [worldOf(before), worldOf(after)];
  const { keys: own, others = [] } = environment;
  const proof = prove(was, is, {
    version: VERSION,
    matches: own,
    hosts: [HOST, 'x.s0.test', 'y.s0.test'],
    workloads: [{ hosts: [HOST], defaultVersion: DEFAULT_VERSION }],
    virtualServices: changed,
  });
  const [without, withIt] = [createRouter(was), createRouter(is)];
  const aim = aimAt([before], [...own, ...others], HOSTS);
  const random = randomFrom(seed);
  const requests = Array.from({ length: EACH }, () => aimedRequest(aim, random));
  const isFine = (request: Request): boolean =>
    isAllowed(request, own, without.decide(request), withIt.decide(request));
  const tried = proof.verdict === 'True' ? requests : [];
  expect(tried.filter((each) => !isFine(each))).toEqual([]);
  // For requests with the key, the proof checks more than `isAllowed` does.
  const refuting = proof.reason === 'OtherRequestsMoved' ? [proof.counterexample!.request] : [];
  expect(refuting.filter(isFine)).toEqual([]);
  return { proof, isRouted: changed.length > 0, decisions: requests.map((each) => withIt.decide(each)) };
}

test('prove: requests confirm what is proved, and contradict what is refuted', { timeout: 600_000 }, () => {
  const verdicts = { True: 0, False: 0, Unknown: 0 };
  fc.assert(
    fc.property(environmentOf('inserted'), fc.integer(), (environment, seed) => {
      const { proof, isRouted } = tryOut(environment, seed);
      if (isRouted) verdicts[proof.verdict]++;
    }),
    { numRuns: Math.ceil(TRIPLES / EACH) },
  );
  const all = verdicts.True + verdicts.False + verdicts.Unknown;
  // Enough proofs and refutations to be meaningful, and few undecided ones.
  expect(verdicts.True).toBeGreaterThan(all / 4);
  expect(verdicts.False).toBeGreaterThan(all / 10);
  expect(verdicts.Unknown).toBeLessThan(all / 20);
});

test.each((Object.keys(WAYS) as Way[]).filter((way) => way !== 'inserted'))(
  'prove detects routes that are written incorrectly: %s',
  { timeout: 120_000 },
  (way) => {
    const found = { byRequests: 0, byProof: 0 };
    let runs = 0;
    // A difference may be rare: then more are tried.
    const isEnough = (): boolean => ++runs > 200 && found.byRequests > 0 && found.byProof > 0;
    fc.assert(
      fc.property(environmentOf(way), fc.integer(), (environment, seed) => {
        if (isEnough()) return;
        const right = tryOut({ ...environment, way: 'inserted' }, seed);
        if (right.proof.verdict !== 'True') return;
        const wrong = tryOut(environment, seed);
        const differs = right.decisions.some(
          (each, i) => !jsonEqual(observable(each), observable(wrong.decisions[i]!)),
        );
        if (differs) found.byRequests++;
        if (wrong.proof.verdict === 'False') found.byProof++;
      }),
      { numRuns: 1_000 },
    );
    expect(found.byRequests).toBeGreaterThan(0);
    expect(found.byProof).toBeGreaterThan(0);
  },
);
