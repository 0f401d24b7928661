// The evaluator that property tests of environments rely on says what istiod and Envoy do: random VirtualServices and
// requests over everything that a match can ask for. OFFSHOOT_REQUESTS=N asks more than the 2,000 of an ordinary run.
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { HttpRoute } from '../../src/traffic/istio/objects.ts';
import { withDelegates } from '../../src/traffic/istio/delegates.ts';
import { hasRoutes, routeOf } from '../../src/traffic/evaluate.ts';
import type { Request } from '../../src/traffic/evaluate.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { Answer } from './ask.ts';
import { describeMeshes } from './index.ts';
import type { Proxy } from './mesh.ts';
import { ASKERS, NAMESPACE, PORTS, round } from './vocabulary.ts';
import type { AskedQuestion, Round } from './vocabulary.ts';

const SERVICES = 20;
const QUESTIONS_EACH = 10;
const ROUNDS = Math.ceil(Number(process.env['OFFSHOOT_REQUESTS'] ?? 2_000) / (SERVICES * QUESTIONS_EACH));
const AT_ONCE = 20;

const Service = defineKind('v1', 'Service', 'services');
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

describeMeshes('the evaluator', { ports: PORTS, debounce: '1ms', clusters: ['embedded'] }, (handle) => {
  const proxies = new Map<string, Proxy>();

  beforeAll(async () => {
    const { mesh } = handle;
    for (const name of [NAMESPACE, 'depot'])
      await mesh.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    // Without pods: whoever is sent to the Service itself gets a 503.
    const ports = PORTS.map((port) => ({ name: `http-${port}`, port }));
    for (let i = 0; i < SERVICES; i++) {
      const metadata = { name: `v${i}`, namespace: NAMESPACE };
      await mesh.client.create(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } });
    }
    const { web, test: tester } = ASKERS;
    proxies.set('ingress', mesh.ingress);
    proxies.set('web', await mesh.caller({ name: 'web', ...web }));
    proxies.set('test', await mesh.caller({ name: 'test', ...tester }));
  });

  test(
    `agrees with Envoy on ${ROUNDS * SERVICES * QUESTIONS_EACH} requests`,
    async () => {
      const rounds = fc.sample(round(SERVICES, QUESTIONS_EACH), ROUNDS);
      const landings = new Map<string, number>();
      for (const each of rounds) {
        await write(handle.mesh.client, each);
        await handle.mesh.settled();
        for (let at = 0; at < each.questions.length; at += AT_ONCE) {
          await Promise.all(
            each.questions.slice(at, at + AT_ONCE).map(async (asked) => {
              const http = withDelegates(each.roots.get(asked.service)!, (name) => each.delegates.get(name));
              const envoy = seen(await proxies.get(asked.asker)!.ask(asked.question));
              const evaluator = expected(http, requestOf(asked));
              expect({ asked, http, landing: evaluator }).toEqual({ asked, http, landing: envoy });
              const way = envoy.replace(/^v.*/, 'a route').replace(/^d.*/, 'a delegate');
              landings.set(way, (landings.get(way) ?? 0) + 1);
            }),
          );
        }
      }
      // Each way to land is common enough that an error in it would show.
      const total = ROUNDS * SERVICES * QUESTIONS_EACH;
      const rare = ['a route', 'a delegate', 'nowhere', 'the Service'].filter(
        (way) => (landings.get(way) ?? 0) < total / 20,
      );
      expect(rare).toEqual([]);
    },
    30_000 + ROUNDS * 2_000,
  );
});

/** Brings all VirtualServices of a round, in the place of those of the last. */
async function write(client: Client, { roots, delegates }: Round): Promise<void> {
  const specs = [
    ...Array.from(roots, ([name, http]) => ({
      name,
      spec: { hosts: [name], gateways: ['mesh', ASKERS.ingress.gateway], http },
    })),
    ...Array.from(delegates, ([name, http]) => ({ name, spec: { http } })),
  ];
  await Promise.all(
    specs.map(({ name, spec }) => {
      const metadata = { name, namespace: NAMESPACE };
      const body: VirtualService = {
        apiVersion: 'networking.istio.io/v1beta1',
        kind: 'VirtualService',
        metadata,
        spec,
      };
      return client.patch(VirtualService, metadata, { type: 'apply', body, force: true }, { fieldManager: 'test' });
    }),
  );
}

/** Where a request landed: the route's name, or neither. */
function seen({ status, headers, body }: Answer): string {
  if (status === 200) return String(headers['x-route']);
  if (status === 404) return 'nowhere';
  return status === 503 ? 'the Service' : `${status} ${body}`;
}

/** Where the evaluator says that it lands. */
function expected(http: readonly HttpRoute[], request: Request): string {
  if (!hasRoutes(http, request)) return request.gateway === 'mesh' ? 'the Service' : 'nowhere';
  return routeOf(http, request)?.name ?? 'nowhere';
}

function requestOf({ asker, question: { host, headers = [], ...rest } }: AskedQuestion): Request {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const values = (name: string): string[] =>
    headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
  return {
    ...rest,
    ...ASKERS[asker],
    authority: host,
    headers: Object.fromEntries([...names].map((name) => [name, values(name)])),
  };
}
