// Every `testdata/NAME.in.yaml` is a small world; the plan of its environment must be what `NAME.out.yaml` says.
// `UPDATE_GOLDEN=1 npm test -- golden` writes the outputs again: read the difference before you commit it.
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { observeAll, readWorld, shownPlan, worldsIn } from '../../test/support/golden-plan.ts';
import { goldenOf } from '../../test/support/golden.ts';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { Reads } from '../controller/index.ts';
import type { Plan, Refusal } from '../controller/index.ts';
import { describe, keyOf, objectOf, Tables } from '../kube/index.ts';
import type { KubeObject, Make, Own } from '../kube/index.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { defaultSettings, environmentTables, planEnvironment, planVirtualService, routeWishes } from './index.ts';
import { Service } from './objects.ts';
import { refusalKey, routeRefusals } from './routes/refusals.ts';
import type { RouteRefusals } from './routes/refusals.ts';

const DIR = path.join(import.meta.dirname, 'testdata');

/** The first document of an input: describes the world. Unknown fields are rejected. */
const Head = z.strictObject({
  about: z.string(),
  plan: z.string(),
  now: z.string().default('2026-01-01T00:10:00Z'),
  /** Kinds that the cluster does not serve. */
  notServed: z.array(z.string()).default([]),
  /** By `Kind namespace/name`: the error with which the server refused a write in this reconcile. */
  refused: z.record(z.string(), z.string()).default({}),
  settings: z
    .strictObject({
      versionLabel: z.string(),
      defaultVersion: z.string(),
      keyHeader: z.string(),
      removeLabels: z.array(z.string()),
      trackingLabels: z.array(z.string()),
      gatewayRoutes: z.boolean(),
      clusterDomain: z.string(),
      routeAfterMs: z.number(),
      settleMs: z.number(),
      drainMs: z.number(),
      namespaces: z.array(z.string()),
    })
    .partial()
    .default({}),
});

/**
 * The plan of a world: the steps of its environment, then the routes of the VirtualServices, and the status of the
 * environment after that.
 */
function plan(file: string): string {
  const { head, objects } = readWorld(file, Head);
  // Most worlds test what is written in the end.
  const settings = { ...defaultSettings, settleMs: 0, ...head.settings };
  const [before, after] = [0, 1].map(() => {
    const tables = new Tables(environmentTables);
    observeAll(tables, environmentTables, objects.map(withPort));
    for (const kind of environmentTables) if (head.notServed.includes(kind.kind)) tables.of(kind).notServed();
    return tables;
  }) as [Tables, Tables];
  let now = Date.parse(head.now);
  const maps = { wishes: routeWishes(settings), refusals: refusalsOf(head) };
  const reads = new Reads({ tables: after, now: () => now, wake: () => {} });
  const refusal: Refusal = ({ kind }, ref) => head.refused[`${kind} ${keyOf(ref)}`];
  const env = after.of(DynamicEnv).get(head.plan);
  if (env === undefined) throw new Error(`${file}: plan: there is no DynamicEnv ${head.plan}`);
  const planned = (): Plan =>
    reads.track('golden', (view) => planEnvironment(view, env, settings, maps.refusals), refusal);

  const first = planned();
  for (const step of first.steps ?? []) if (step.do === 'own' || step.do === 'make') observe(after, step, head.now);
  const routes = after
    .of(VirtualService)
    .list()
    .filter(({ metadata }) => refusal(VirtualService, metadata) === undefined)
    .flatMap(
      (service) => reads.track('routes', (view) => planVirtualService(view, service, maps, settings)).steps ?? [],
    );
  for (const step of routes) {
    const { metadata } = objectOf(step);
    after.of(step.kind).observe({ ...objectOf(step), metadata: { ...metadata, resourceVersion: '100' } });
  }
  let last = routes.length === 0 ? first : planned();
  // If the status waits for proxies to get the routes, skip the wait.
  if (last.status === undefined && last.requeueAfterMs !== undefined) {
    now += last.requeueAfterMs;
    last = planned();
  }
  if (last === first) return shownPlan(first, before);
  const { steps: again = [], ...then } = last;
  const more = again.filter((step) => !first.steps?.some((each) => describe(each) === describe(step)));
  return shownPlan({ ...then, steps: [...(first.steps ?? []), ...routes, ...more] }, before);
}

/** Adds a port to Services, which worlds may leave out. */
function withPort(object: KubeObject): KubeObject {
  if (object.kind !== Service.kind) return object;
  const { spec } = object as Service;
  return { ...object, spec: { ports: [{ port: 80 }], ...spec } } as Service;
}

/** Adds the object of a step, if it does not exist. */
function observe(tables: Tables, step: Own | Make, now: string): void {
  const { metadata } = step.object;
  if (tables.of(step.kind).get(keyOf(metadata)) !== undefined) return;
  const served = { uid: 'uid-made', resourceVersion: '99', generation: 1, creationTimestamp: now, ...metadata };
  tables.of(step.kind).observe({ ...step.object, metadata: served });
}

/** Refused routes, as the controller of VirtualServices would have recorded them. */
function refusalsOf(head: z.output<typeof Head>): RouteRefusals {
  const refusals = routeRefusals();
  for (const [of, message] of Object.entries(head.refused)) {
    const [kind, key = ''] = of.split(' ');
    const wish = {
      environment: head.plan,
      owner: { version: '', taken: [] },
      matches: [],
      insertions: [],
      untouched: [],
    };
    const refusal = { wish, base: [], message, times: 1, retryAt: Infinity };
    if (kind === 'VirtualService') refusals.store(refusalKey(key, head.plan), refusal);
  }
  return refusals;
}

test.each(worldsIn(DIR).map((world) => [path.basename(world), world]))('%s', (_name, world) => {
  const text = plan(`${world}.in.yaml`);
  expect(text).toBe(goldenOf(text, `${world}.out.yaml`));
});
