// Example requests reach their environment, whatever other environments ask for. The routing model is the judge.
import { expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { readerOf } from '../../api/testing/reader.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { keyOf } from '../../kube/index.ts';
import { createRouter, worldOf } from '../../traffic/index.ts';
import { DestinationRule, VirtualService } from '../../traffic/istio/objects.ts';
import { Deployment, Service } from '../objects.ts';
import { uniqueVersion } from '../names.ts';
import { exampleCalls } from './calls.ts';
import { environmentWorld } from './world.ts';

const byUser = (match: object): Partial<DynamicEnv['spec']> => ({ istioMatches: [{ headers: { user: match } }] });

/** What environments of the same workload ask for, by name, oldest first. */
const ASKED: Readonly<Record<string, Partial<DynamicEnv['spec']>>> = {
  exact: byUser({ exact: 'al' }),
  prefix: byUser({ prefix: 'al' }),
  regex: byUser({ regex: 'a.*' }),
  same: byUser({ exact: 'al' }),
  key: { key: 'pr-7' },
  baggage: { istioMatches: [{ headers: { baggage: { prefix: 'env=pr-7' } } }] },
  both: {
    istioMatches: [
      { headers: { user: { prefix: 'b' }, other: { exact: 'x' } } },
      { headers: { user: { exact: 'al' } } },
    ],
  },
  labels: { istioMatches: [{ sourceLabels: { team: 'blue' } }] },
};

/** The request of a call, for the routing model. */
function requestOf(call: string) {
  const headers = [...call.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name, value]) => [name!, value!]);
  const url = new URL(/(http:\/\/\S+)/.exec(call)![1]!.replaceAll("'", ''));
  const labels = (/labels (\S+)$/.exec(call)?.[1] ?? '').split(',').filter(Boolean);
  return {
    host: url.hostname,
    port: Number(url.port || 80),
    path: url.pathname,
    headers: Object.fromEntries(headers) as Record<string, string>,
    source: {
      namespace: 'shop',
      labels: Object.fromEntries(labels.map((each) => each.split('='))) as Record<string, string>,
    },
  };
}

test('every example call reaches its environment, even if others come first', async () => {
  const { routes, ...rest } = workload('shop', 'cart');
  const [base] = routes.spec!.http!;
  const http = [{ ...base, match: [{ uri: { prefix: '/api' } }], name: 'api' }, base!];
  const cluster = await MemoryCluster.of([...Object.values(rest), { ...routes, spec: { ...routes.spec, http } }]);
  for (const [name, spec] of Object.entries(ASKED)) {
    const { istioMatches: _none, ...own } = environment('shop', name, [{ name: 'cart', namespace: 'shop' }]).spec;
    const env: DynamicEnv = { ...environment('shop', name, []), spec: { ...own, ...spec } };
    await cluster.put(env);
    expect(await cluster.settle()).toEqual([]);
  }
  const kinds = [Deployment, Service, DestinationRule, VirtualService, DynamicEnv] as const;
  const objects = kinds.flatMap((kind) => cluster.list<never>(kind as never));
  const router = createRouter(worldOf(objects));
  const reached = cluster.list(DynamicEnv).map((env) => {
    const calls = exampleCalls(environmentWorld(readerOf(objects), env));
    for (const call of calls) {
      const decision = router.decide(requestOf(call));
      expect([call, decision.kind === 'route' && decision.destinations.map(({ subset }) => subset)]).toEqual([
        call,
        [uniqueVersion(env.metadata)],
      ]);
    }
    return [keyOf(env.metadata), calls.length];
  });
  expect(Object.fromEntries(reached)).toEqual({
    'shop/exact': 2,
    'shop/prefix': 2,
    'shop/regex': 2,
    // An earlier environment takes all of its requests.
    'shop/same': 0,
    'shop/key': 4,
    'shop/baggage': 2,
    'shop/both': 2,
    'shop/labels': 2,
  });
});
