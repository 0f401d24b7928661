// Joint writes that the server refuses.
import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { carryOutAttempts, sharedNotes } from '../../controller/attempts.ts';
import { ApiError, edit, StepFailed } from '../../kube/index.ts';
import type { Edit, Outcome, Step } from '../../kube/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { DueWish } from './due.ts';
import { editService } from './edit.ts';
import { refusalKey, routeRefusals } from './refusals.ts';
import { PACE_MS, writeRoutes } from './write.ts';

const base: VirtualService = {
  apiVersion: 'networking.istio.io/v1beta1',
  kind: 'VirtualService',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { hosts: ['cart'], http: [{ route: [{ destination: { host: 'cart', subset: 'shared' } }] }] },
};

function wish(name: string, hasRoutes = true): DueWish {
  const insertion = {
    workload: { name: 'cart', namespace: 'shop' },
    clone: `cart-team-${name}`,
    hosts: ['cart.shop.svc.cluster.local'],
    defaultVersion: 'shared',
    clusterDomain: 'cluster.local',
  };
  return {
    environment: `team/${name}`,
    owner: { version: `team-${name}`, taken: [] },
    matches: [{ headers: { user: { exact: name } } }],
    insertions: hasRoutes ? [insertion] : [],
    untouched: [],
  };
}

/** Writes wishes to a server that refuses some; returns its routes, the number of requests, and the refusals. */
async function written(from: VirtualService, wishes: readonly DueWish[], refuses: (text: string) => boolean) {
  const clock = new FakeClock();
  const refusals = routeRefusals();
  let service = from;
  let requests = 0;
  const apply = async (steps: readonly Step[]): Promise<readonly Outcome[]> => {
    const [step] = steps as [Edit];
    requests++;
    expect(step.from).toBe(service);
    if (refuses(JSON.stringify(step.to))) {
      throw new StepFailed(step, new ApiError('denied the request', { code: 400, reason: 'BadRequest' }), []);
    }
    service = step.to;
    return [{ step, did: 'changed', object: step.to }];
  };
  const { service: to } = editService(from, wishes);
  const joint = { ...edit(VirtualService, from, to), from, to, wishes } as Step;
  const writing = carryOutAttempts(writeRoutes([joint], sharedNotes(clock), refusals), {
    apply,
    clock,
    paceMs: PACE_MS,
    signal: new AbortController().signal,
  });
  const done = writing.then(() => true);
  while (!(await Promise.race([done, clock.advance(100)])));
  const routed = (service.spec?.http ?? []).flatMap(({ match = [] }) => match[0]?.headers?.['user']?.exact ?? []);
  return { routed, requests, outcomes: await writing, refused: [...refusals.keys()] };
}

const names = Array.from({ length: 16 }, (_none, i) => `e${i}.`);

test('writeRoutes sends one request if nothing is refused', async () => {
  const wishes = names.map((name) => wish(name));
  expect(await written(base, wishes, () => false)).toMatchObject({ routed: names, requests: 1, refused: [] });
});

test('writeRoutes leaves out only the refused wish, and finds it by bisection', async () => {
  const wishes = names.map((name) => wish(name));
  const { routed, requests, refused } = await written(base, wishes, (text) => text.includes('"e5."'));
  expect(routed.toSorted()).toEqual(names.filter((name) => name !== 'e5.').toSorted());
  expect(refused).toEqual([refusalKey('shop/cart', 'team/e5.')]);
  expect(requests).toBeLessThanOrEqual(1 + 2 * Math.log2(names.length));
});

test('writeRoutes writes removals even if all additions are refused', async () => {
  const { service } = editService(base, [wish('old'), wish('kept')]);
  const wishes = [wish('old', false), wish('kept'), wish('bad1'), wish('bad2')];
  const { routed, refused } = await written(service, wishes, (text) => text.includes('"bad'));
  expect(routed).toEqual(['kept']);
  expect(refused).toEqual([refusalKey('shop/cart', 'team/bad1'), refusalKey('shop/cart', 'team/bad2')]);
});
