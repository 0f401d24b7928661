// Compares the rules compiled for one host with a full table of names, as istiod builds it.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyObject } from '../../kube/index.ts';
import { createRouter, worldOf } from '../index.ts';
import type { Decision } from '../index.ts';
import { landingOf } from '../testing/naive-world.ts';
import { cell, question, requestOf, secondHosts, sidecarHosts } from '../testing/random-world.ts';
import { surroundings } from '../testing/surroundings.ts';

function landing(decision: Decision): string {
  if (decision.kind === 'passthrough') return 'Passthrough';
  const { rule } = decision;
  if (rule === undefined) return decision.kind === 'response' ? decision.reason : '';
  const [target] = rule.action.kind === 'route' ? rule.action.destinations : [];
  return `${rule.virtualService ?? target?.host} ${rule.name}`;
}

const world = fc.tuple(cell(0), cell(1), sidecarHosts(0));
const questions = fc.array(fc.oneof(question(0), question(1)), { minLength: 20, maxLength: 20 });
/** Port 80 and headless Services are special cases. */
const variants = fc.record({ isWeb: fc.boolean(), isHeadless: fc.boolean() });

test('the rules of a single host agree with the full table of names', () => {
  const landings = new Map<string, number>();
  fc.assert(
    fc.property(world, questions, variants, ([zero, one, sidecar], asked, { isWeb, isHeadless }) => {
      const written = JSON.stringify([...zero, ...one, ...surroundings(sidecar, secondHosts(0))]);
      const headless = isHeadless ? written.replaceAll('"selector":{"pool":"b"}', '"clusterIP":"None"') : written;
      const objects = JSON.parse(isWeb ? headless.replaceAll('8000', '80') : headless) as readonly AnyObject[];
      const router = createRouter(worldOf(objects));
      for (const each of asked) {
        const host = isHeadless ? each.host.replace(/^t/, 'pod.t') : each.host;
        const port = isWeb && each.port === 8000 ? 80 : each.port;
        const request = requestOf({ ...each, host, port });
        const decision = router.decide(request);
        const expected = landingOf(objects, request);
        expect({ request, objects, landing: landing(decision) }).toEqual({ request, objects, landing: expected });
        const way = expected.split(' ')[1] ?? expected;
        landings.set(way.replace(/-.*/, ''), (landings.get(way.replace(/-.*/, '')) ?? 0) + 1);
      }
    }),
    { numRuns: 500 },
  );
  const rare = ['v0', 'v1', 'root', 'default', 'NoRoute', 'UnknownHost', 'Passthrough'].filter(
    (way) => (landings.get(way) ?? 0) < 25,
  );
  expect(rare).toEqual([]);
});
