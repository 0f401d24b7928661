// For any world and any environment in it: what is proved holds for every request that is tried, and what is refuted is
// refuted by a request that anybody can try.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { AnyObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { createRouter, prove, worldOf } from '../index.ts';
import type { Decision, Request } from '../index.ts';
import { withRoutes } from '../istio/insert-routes.ts';
import type { VirtualService } from '../istio/objects.ts';
import { unusable } from '../istio/matches.ts';
import { fitsConditions } from '../testing/naive-routes.ts';
import { CALLERS, cell, question, requestOf, secondHosts, sidecarHosts } from '../testing/random-world.ts';
import { surroundings } from '../testing/surroundings.ts';

const HOST = 's0.shop.svc.cluster.local';
const VERSION = 'team-e';

const condition = fc.constantFrom(
  { exact: 'a' },
  { exact: 'ab' },
  { exact: 'b' },
  { prefix: 'a' },
  { regex: 'a.*' },
  { regex: 'a|b' },
);
const matches: fc.Arbitrary<IstioMatch[]> = fc.array(
  fc.record(
    {
      headers: fc.dictionary(fc.constantFrom('x-user', 'X-Env'), condition, { minKeys: 1, maxKeys: 2 }),
      sourceLabels: fc.constantFrom<Record<string, string>>({ app: 'web' }, { tier: 'x' }),
    },
    { requiredKeys: ['headers'] },
  ),
  { minLength: 1, maxLength: 2 },
);

/** Routes to the base more often than by chance. */
function leading(written: readonly AnyObject[]): readonly AnyObject[] {
  const base = `"host":"${HOST}","subset":"v1"`;
  return JSON.parse(
    JSON.stringify(written)
      .replaceAll('"subset":"v2"', '"subset":"v1"')
      .replaceAll(/"host":"[nu]0"/g, base),
  ) as readonly AnyObject[];
}

/** Ways to write the routes of an environment: as it is done, and as it must not be. */
const WAYS = {
  inserted: (_service: VirtualService, own: VirtualService) => own.spec!.http!,
  appended: ({ spec }: VirtualService, own: VirtualService) => [
    ...spec!.http!,
    ...own.spec!.http!.filter((each) => !spec!.http!.includes(each)),
  ],
  'for everybody': (_service: VirtualService, own: VirtualService) =>
    own.spec!.http!.map((each) => (each.name?.startsWith('dynamic-') ? { ...each, match: [] } : each)),
};

function objects(written: readonly AnyObject[], env: readonly IstioMatch[], way: keyof typeof WAYS, hasPods: boolean) {
  const deployment = (name: string, version: string): AnyObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop' },
    spec: { template: { metadata: { labels: { pool: 'a', version } } } },
  });
  const base = hasPods ? ['v1', 'v2', 'v3'].map((each) => deployment(`base-${each}`, each)) : [];
  const before = [...written, ...base];
  const changed: VirtualService[] = [];
  const after = before.map((object) => {
    if (object.kind !== 'VirtualService') return object;
    const service = object as unknown as VirtualService;
    const insertion = {
      workload: { name: 's0', namespace: 'shop' },
      clone: 's0-team-e',
      hosts: [HOST],
      defaultVersion: 'v1',
      clusterDomain: 'cluster.local',
    };
    const wish = { owner: { version: VERSION, taken: [] }, matches: env, insertions: [insertion], untouched: [] };
    const { http } = withRoutes(service, [wish]);
    if (jsonEqual(http, service.spec?.http)) return object;
    const own = { ...service, spec: { ...service.spec, http } };
    changed.push(own);
    return { ...own, spec: { ...own.spec, http: WAYS[way](service, own) } };
  });
  const rule: AnyObject = {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'DestinationRule',
    metadata: { name: 'team-e', namespace: 'shop' },
    spec: { host: HOST, subsets: [{ name: VERSION, labels: { version: VERSION } }] },
  };
  const clone = hasPods ? [deployment('clone', VERSION)] : [];
  return { before, after: [...after, rule, ...clone], changed };
}

/** What somebody notices of a decision. */
function noticed({ considered: _considered, rule: _rule, superseded: _superseded, ...rest }: Decision): unknown {
  return rest;
}

/** Whether a request may be decided so. */
function isAllowed(request: Request, env: readonly IstioMatch[], before: Decision, after: Decision): boolean {
  if (jsonEqual(noticed(before), noticed(after))) return true;
  const { source, headers = {}, path, method = 'GET' } = request;
  const labels = 'gateway' in source ? CALLERS.ingress.labels : (source.labels ?? {});
  const asked = { headers, path, method, labels };
  const isCarrier = env.some((match) => unusable(match) === undefined && fitsConditions(match, asked));
  if (!isCarrier) return false;
  if (after.kind === 'response' && after.reason === 'FaultAbort') return true;
  return after.kind === 'route' && after.destinations.every(({ subset }) => subset === VERSION);
}

test('what is proved holds, and what is refuted does not', () => {
  const verdicts = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.tuple(cell(0), sidecarHosts(0)),
      matches,
      fc.constantFrom<keyof typeof WAYS>('inserted', 'inserted', 'inserted', 'appended', 'for everybody'),
      fc.boolean(),
      fc.array(question(0), { minLength: 30, maxLength: 30 }),
      ([written, sidecar], env, way, hasPods, questions) => {
        const world = [...leading(written), ...surroundings(sidecar, secondHosts(0))];
        const { before, after, changed } = objects(world, env, way, hasPods);
        const [was, is] = [worldOf(before), worldOf(after)];
        const proof = prove(was, is, {
          version: VERSION,
          matches: env,
          hosts: [HOST, 'x.s0.test', 'y.s0.test'],
          workloads: [{ hosts: [HOST], defaultVersion: 'v1' }],
          virtualServices: changed.map(({ metadata }) => metadata),
        });
        const outcome = `${changed.length > 0 ? way : 'no routes'} ${proof.verdict}`;
        verdicts.set(outcome, (verdicts.get(outcome) ?? 0) + 1);
        const [without, withIt] = [createRouter(was), createRouter(is)];
        const isFine = (request: Request): boolean =>
          isAllowed(request, env, without.decide(request), withIt.decide(request));
        const tried = proof.verdict === 'True' ? questions.map(requestOf) : [];
        expect(tried.filter((request) => !isFine(request))).toEqual([]);
        // One that carries the key is held to more than can be told here.
        const refuting = proof.reason === 'OtherRequestsMoved' ? [proof.counterexample!.request] : [];
        expect(refuting.filter(isFine)).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
  const seen = (outcome: string): number => verdicts.get(outcome) ?? 0;
  // Enough of each to say something, and hardly ever no answer.
  expect(seen('inserted True')).toBeGreaterThan(30);
  expect(seen('inserted False')).toBeGreaterThan(30);
  expect(seen('appended False')).toBeGreaterThan(10);
  expect(seen('for everybody False')).toBeGreaterThan(10);
  expect(seen('inserted Unknown') + seen('appended Unknown') + seen('for everybody Unknown')).toBeLessThan(15);
});
