// Properties for any cluster: plans never fail, they settle, and they clean up everything that they made.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { keyOf } from '../kube/index.ts';
import { isInserted } from '../traffic/istio/inserted-routes.ts';
import { Deployment } from './objects.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { MemoryCluster } from '../../test/environments/memory-cluster.ts';
import {
  deployment,
  environment,
  rule,
  service,
  squatter,
  unmarked,
  virtualService,
  world,
} from '../../test/environments/random-worlds.ts';

describe('plans', () => {
  test('settle in any world, after any changes', async () => {
    const change = fc.oneof(environment, deployment, service, rule, virtualService, squatter);
    const changes = fc.array(fc.tuple(change, fc.boolean()), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(world, fc.array(squatter, { maxLength: 2 }), changes, async (objects, squatters, later) => {
        const cluster = await MemoryCluster.of([...objects, ...squatters]);
        expect(await cluster.settle()).toEqual([]);
        for (const [each, isGone] of later) {
          if (isGone) await cluster.remove(each);
          else await cluster.put(each);
          expect(await cluster.settle()).toEqual([]);
        }
        expect([cluster.stranded, cluster.premature]).toEqual([[], []]);
      }),
      { numRuns: 60 },
    );
  });

  test('settle whatever the server refuses, and catch up once it accepts everything', async () => {
    const name = fc.constantFrom(
      'Deployment a/x-a-e',
      'DestinationRule a/x-a-e-x',
      'VirtualService a/v',
      'VirtualService a/v1',
    );
    const refused = fc.uniqueArray(name, { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(world, refused, refused, async (objects, first, second) => {
        const cluster = await MemoryCluster.of(objects.filter(({ kind }) => kind !== 'DynamicEnv'));
        const before = contents(cluster);
        for (const each of first) cluster.refused.add(each);
        for (const env of objects.filter(({ kind }) => kind === 'DynamicEnv')) await cluster.put(env);
        expect(await cluster.settle()).toEqual([]);
        cluster.refused.clear();
        expect(await cluster.settle()).toEqual([]);
        for (const each of second) cluster.refused.add(each);
        for (const env of cluster.list(DynamicEnv)) {
          await cluster.delete(env);
        }
        expect(await cluster.settle()).toEqual([]);
        cluster.refused.clear();
        expect(await cluster.settle()).toEqual([]);
        expect([cluster.list(DynamicEnv), contents(cluster), cluster.stranded]).toEqual([[], before, []]);
      }),
      { numRuns: 60 },
    );
  });

  test('leave nothing behind when all environments are deleted', async () => {
    await fc.assert(
      fc.asyncProperty(
        world,
        fc.array(unmarked, { maxLength: 2 }),
        fc.array(environment, { maxLength: 2 }),
        async (objects, squatters, later) => {
          const others = [...objects, ...squatters].filter(({ kind }) => kind !== 'DynamicEnv');
          const cluster = await MemoryCluster.of(others);
          const before = contents(cluster);
          for (const env of [...objects.filter(({ kind }) => kind === 'DynamicEnv'), ...later]) {
            await cluster.put(env);
            expect(await cluster.settle()).toEqual([]);
          }
          for (const env of cluster.list(DynamicEnv)) {
            await cluster.delete(env);
            expect(await cluster.settle()).toEqual([]);
          }
          expect(cluster.list(DynamicEnv)).toEqual([]);
          expect([cluster.stranded, cluster.premature]).toEqual([[], []]);
          expect(contents(cluster)).toEqual(before);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** The specs of all objects; there must be no inserted routes. */
function contents(cluster: MemoryCluster): Record<string, unknown> {
  const routes = cluster.list(VirtualService).flatMap((each) => each.spec?.http ?? []);
  expect(routes.filter(isInserted)).toEqual([]);
  const all = [...cluster.list(Deployment), ...cluster.list(DestinationRule), ...cluster.list(VirtualService)];
  return Object.fromEntries(all.map(({ kind, metadata, spec: of }) => [`${kind} ${keyOf(metadata)}`, of]));
}
