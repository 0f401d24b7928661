// The routing model says what istiod and Envoy do: random worlds and requests over everything that decides about them.
// OFFSHOOT_REQUESTS=N asks more than the 5,000 of an ordinary run; OFFSHOOT_SEED=N others.
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
import { expectedOf, toldRoutes } from './model/told.ts';

const CELLS = 40;
const QUESTIONS_EACH = 13;
const ROUNDS = Math.ceil(Number(process.env['OFFSHOOT_REQUESTS'] ?? 5_000) / (CELLS * QUESTIONS_EACH));
const TOTAL = ROUNDS * CELLS * QUESTIONS_EACH;
const SEED = Number(process.env['OFFSHOOT_SEED'] ?? 1);
const AT_ONCE = 20;
/** Proxies may be a little behind with kinds that the mesh itself does not wait for. */
const BEHIND_MS = 5_000;
/** Each of these is common enough that an error in it would show. */
const WAYS = ['Reached', 'lost', 'redirect', 'DirectResponse', 'NoRoute', 'UnknownHost', 'BlackHole', 'FaultAbort'];

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
      const ways = new Map<string, number>();
      let before: readonly AnyObject[] = [];
      for (let number = 0; number < ROUNDS; number++) {
        const [round] = fc.sample(roundOf(number), { numRuns: 1, seed: SEED + number });
        const { questions, sidecar, hosts } = round!;
        const objects = [...round!.objects, secondGateway(mesh, hosts)];
        await writeWorld(mesh.client, objects, before);
        before = objects;
        // A new one each time, as its Sidecar is another.
        const narrow = await mesh.caller({ ...callerOf('narrow'), hosts: [...sidecar, 'istio-system/*'] });
        proxies.set('narrow', narrow);
        await mesh.settled();
        const router = createRouter(await readWorld(mesh.client));
        for (let at = 0; at < questions.length; at += AT_ONCE) {
          const asked = questions.slice(at, at + AT_ONCE);
          const answers = await Promise.all(asked.map((each) => compare(each, router, proxies.get(each.caller)!)));
          for (const { way } of answers) ways.set(way, (ways.get(way) ?? 0) + 1);
          const differences = answers.flatMap(({ difference }) => difference ?? []);
          expect(differences.map((each) => ({ ...each, sidecar, about: aboutCell(each.asked, objects) }))).toEqual([]);
        }
        for (const caller of proxies.keys()) await compareTold(proxies.get(caller)!, caller, questions, router);
        await mesh.dismiss(narrow);
      }
      expect(WAYS.filter((way) => (ways.get(way) ?? 0) < TOTAL / 500)).toEqual([]);
    },
    60_000 + ROUNDS * 5_000,
  );
});

/**
 * A world, and requests to it. No name is used twice: of what changes, istiod does not tell proxies everything (the
 * further ports of a service that a Sidecar lets them see, subsets that are gone), and this is about what is.
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

/** A caller for which unknown hosts are refused: what is passed through has nowhere to go on loopback. */
function callerOf(name: 'web' | 'test' | 'narrow') {
  return { name, ...CALLERS[name], outboundTrafficPolicy: 'REGISTRY_ONLY' } as const;
}

/** Asks a proxy, again if need be, and compares with what the model says. */
async function compare(asked: Asked, router: Router, proxy: Proxy) {
  const request = withProxyLabel(requestOf(asked), asked.caller);
  const decision = router.decide(request);
  const way = wayOf(decision);
  const model = expectations(decision, request);
  const deadline = performance.now() + BEHIND_MS;
  for (;;) {
    const envoy = seen(await proxy.ask(asked));
    if (model.some((each) => JSON.stringify(each) === JSON.stringify(envoy))) return { way };
    if (performance.now() > deadline)
      return {
        way,
        difference: { asked, model, envoy, considered: decision.considered.map((each) => JSON.stringify(each)) },
      };
  }
}

/** Compares what a proxy has been told that routes do with what the model says of those that requests came to. */
async function compareTold(proxy: Proxy, caller: Caller, questions: readonly Asked[], router: Router): Promise<void> {
  const told = await toldRoutes(proxy);
  const decided = questions
    .filter((asked) => asked.caller === caller)
    .map((asked) => ({ asked, rule: router.decide(withProxyLabel(requestOf(asked), caller)).rule }))
    .map(({ asked, rule }) => ({ route: `${asked.port} ${rule?.name}`, does: rule && expectedOf(rule) }))
    .filter(({ does }) => does !== undefined);
  expect(decided.map(({ route }) => ({ route, does: told.get(route) }))).toEqual(decided);
}

function withProxyLabel(request: Request, caller: Caller): Request {
  const labels = { ...request.source.labels, ...(caller !== 'ingress' && { [PROXY_LABEL]: caller }) };
  return { ...request, source: { ...request.source, labels } };
}

function wayOf(decision: Decision): string {
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
