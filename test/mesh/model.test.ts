// The routing model predicts what istiod and Envoy do, for random objects and requests over everything that decides
// about routes. OFFSHOOT_REQUESTS=N sends more than the default of 5,000 requests; OFFSHOOT_SEED=N sends others.
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { AnyObject } from '../../src/kube/objects.ts';
import { createRouter } from '../../src/traffic/index.ts';
import type { Decision, Request, Router } from '../../src/traffic/index.ts';
import {
  CALLERS,
  cell,
  PORTS,
  question,
  requestOf,
  secondHosts,
  sidecarHosts,
} from '../../src/traffic/testing/random-world.ts';
import type { Asked, Caller } from '../../src/traffic/testing/random-world.ts';
import { describeMeshes } from './index.ts';
import { PROXY_LABEL } from './mesh.ts';
import type { Proxy } from './mesh.ts';
import { makePods, readWorld, secondGateway, writeWorld } from './model/cells.ts';
import { expectations, seen } from './model/compare.ts';
import { expectedOf, pushedRoutes } from './model/envoy-routes.ts';

const CELLS = 40;
const QUESTIONS_EACH = 13;
const ROUNDS = Math.ceil(Number(process.env['OFFSHOOT_REQUESTS'] ?? 5_000) / (CELLS * QUESTIONS_EACH));
const TOTAL = ROUNDS * CELLS * QUESTIONS_EACH;
const SEED = Number(process.env['OFFSHOOT_SEED'] ?? 1);
const AT_ONCE = 20;
/** `settled` does not wait for every kind of object, so proxies may lag behind. */
const LAG_MS = 5_000;
/** Each of these outcomes must be frequent enough that an error in it would be found. */
const OUTCOMES = ['Reached', 'lost', 'redirect', 'DirectResponse', 'NoRoute', 'UnknownHost', 'BlackHole', 'FaultAbort'];

describeMeshes('the routing model', { ports: PORTS, debounce: '1ms', clusters: ['embedded'] }, (handle) => {
  const proxies = new Map<Caller, Proxy>();

  beforeAll(async () => {
    const { mesh } = handle;
    await makePods(mesh.client);
    proxies.set('ingress', mesh.ingress);
    for (const name of ['web', 'test'] as const) proxies.set(name, await mesh.caller(callerOf(name)));
  });

  test(
    `agrees with Envoy on ${TOTAL} requests`,
    async () => {
      const { mesh } = handle;
      const outcomes = new Map<string, number>();
      let before: readonly AnyObject[] = [];
      for (let number = 0; number < ROUNDS; number++) {
        const [round] = fc.sample(roundOf(number), { numRuns: 1, seed: SEED + number });
        const { questions, sidecar, hosts } = round!;
        const objects = [...round!.objects, secondGateway(mesh, hosts)];
        await writeWorld(mesh.client, objects, before);
        before = objects;
        // A new one each time, because its Sidecar differs.
        const narrow = await mesh.caller({ ...callerOf('narrow'), hosts: [...sidecar, 'istio-system/*'] });
        proxies.set('narrow', narrow);
        await mesh.settled();
        const router = createRouter(await readWorld(mesh.client));
        for (let at = 0; at < questions.length; at += AT_ONCE) {
          const asked = questions.slice(at, at + AT_ONCE);
          const answers = await Promise.all(asked.map((each) => compare(each, router, proxies.get(each.caller)!)));
          for (const { outcome } of answers) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          const differences = answers.flatMap(({ difference }) => difference ?? []);
          expect(differences.map((each) => ({ ...each, sidecar, about: aboutCell(each.asked, objects) }))).toEqual([]);
        }
        for (const caller of proxies.keys()) await compareRoutes(proxies.get(caller)!, caller, questions, router);
        await mesh.stopCaller(narrow);
      }
      expect(OUTCOMES.filter((outcome) => (outcomes.get(outcome) ?? 0) < TOTAL / 500)).toEqual([]);
    },
    60_000 + ROUNDS * 20_000,
  );
});

/**
 * Random objects, and requests to them. No name is used twice: istiod does not push every change to proxies (further
 * ports of a service that a Sidecar lets them see, deleted subsets), and this test is not about updates.
 */
function roundOf(number: number) {
  const cells = Array.from({ length: CELLS }, (_none, i) => number * CELLS + i);
  const questions = (i: number) => fc.array(question(i), { minLength: QUESTIONS_EACH, maxLength: QUESTIONS_EACH });
  return fc
    .tuple(fc.tuple(...cells.map(cell)), fc.tuple(...cells.map(questions)), sidecarHosts(cells[0]!))
    .map(([objects, asked, sidecar]) => ({
      objects: objects.flat(),
      questions: asked.flat(),
      sidecar,
      hosts: secondHosts(cells[0]!),
    }));
}

/** A caller that rejects unknown hosts: on loopback, passed-through requests have nowhere to go. */
function callerOf(name: 'web' | 'test' | 'narrow') {
  return { name, ...CALLERS[name], outboundTrafficPolicy: 'REGISTRY_ONLY' } as const;
}

/** Sends a request to a proxy, with retries, and compares the answer with the model's. */
async function compare(asked: Asked, router: Router, proxy: Proxy) {
  const request = withProxyLabel(requestOf(asked), asked.caller);
  const decision = router.decide(request);
  const outcome = outcomeOf(decision);
  const model = expectations(decision, request);
  const deadline = performance.now() + LAG_MS;
  for (;;) {
    const envoy = seen(await proxy.ask(asked));
    if (model.some((each) => JSON.stringify(each) === JSON.stringify(envoy))) return { outcome };
    if (performance.now() > deadline)
      return {
        outcome,
        difference: { asked, model, envoy, considered: decision.considered.map((each) => JSON.stringify(each)) },
      };
  }
}

/** Compares the routes in a proxy's configuration with the rules that the model chose for the requests. */
async function compareRoutes(proxy: Proxy, caller: Caller, questions: readonly Asked[], router: Router): Promise<void> {
  const pushed = await pushedRoutes(proxy);
  const decided = questions
    .filter((asked) => asked.caller === caller)
    .map((asked) => ({ asked, rule: router.decide(withProxyLabel(requestOf(asked), caller)).rule }))
    .map(({ asked, rule }) => ({ route: `${asked.port} ${rule?.name}`, does: rule && expectedOf(rule) }))
    .filter(({ does }) => does !== undefined);
  expect(decided.map(({ route }) => ({ route, does: pushed.get(route) }))).toEqual(decided);
}

function withProxyLabel(request: Request, caller: Caller): Request {
  const labels = { ...request.source.labels, ...(caller !== 'ingress' && { [PROXY_LABEL]: caller }) };
  return { ...request, source: { ...request.source, labels } };
}

function outcomeOf(decision: Decision): string {
  switch (decision.kind) {
    case 'route':
      return decision.status === undefined ? 'Reached' : 'lost';
    case 'response':
      return decision.reason;
    case 'redirect':
    case 'passthrough':
      return decision.kind;
  }
}

function aboutCell({ host }: Asked, objects: readonly AnyObject[]): string {
  const [number] = /\d+/.exec(host)!;
  const about = objects.filter(({ metadata }) => metadata.name.replace(/^[a-z]+(\d+).*/, '$1') === number);
  return about.map((each) => JSON.stringify(each)).join('\n');
}
