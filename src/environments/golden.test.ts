// Every `testdata/NAME.in.yaml` is a small world; the plan of its environment must be what `NAME.out.yaml` says.
// `UPDATE_GOLDEN=1 npm test -- golden` writes the outputs anew: read the difference before you commit it.
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { observeAll, readWorld, shownPlan, worldsIn } from '../../test/support/golden-plan.ts';
import { goldenOf } from '../../test/support/golden.ts';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { Reads } from '../controller/index.ts';
import type { Refusal } from '../controller/index.ts';
import { keyOf, Tables } from '../kube/index.ts';
import type { AnyKind } from '../kube/index.ts';
import { defaultSettings, environmentTables, planEnvironment } from './index.ts';

const DIR = path.join(import.meta.dirname, 'testdata');
const KINDS: readonly AnyKind[] = environmentTables(defaultSettings).map(({ kind }) => kind);

/** The first document of an input: what the world is about. Unknown fields are refused. */
const Head = z.strictObject({
  about: z.string(),
  plan: z.string(),
  now: z.string().default('2026-01-01T00:10:00Z'),
  /** Kinds that the cluster does not know. */
  notServed: z.array(z.string()).default([]),
  /** By `Kind namespace/name`: what the server said when it refused a write in this pass. */
  refused: z.record(z.string(), z.string()).default({}),
  settings: z
    .strictObject({
      versionLabel: z.string(),
      defaultVersion: z.string(),
      removeLabels: z.array(z.string()),
      trackingLabels: z.array(z.string()),
      gatewayRoutes: z.boolean(),
      clusterDomain: z.string(),
      routeAfterMs: z.number(),
      settleMs: z.number(),
      drainMs: z.number(),
    })
    .partial()
    .default({}),
});

function plan(file: string): string {
  const { head, objects } = readWorld(file, Head);
  // Most worlds are about what is written in the end.
  const settings = { ...defaultSettings, settleMs: 0, ...head.settings };
  const tables = new Tables(environmentTables(settings));
  observeAll(tables, KINDS, objects);
  for (const kind of KINDS) if (head.notServed.includes(kind.kind)) tables.of(kind).notServed();
  const now = Date.parse(head.now);
  const reads = new Reads({ tables, now: () => now, wake: () => {} });
  const env = tables.of(DynamicEnv).get(head.plan);
  if (env === undefined) throw new Error(`${file}: plan: there is no DynamicEnv ${head.plan}`);
  const refusal: Refusal = ({ kind }, ref) => head.refused[`${kind} ${keyOf(ref)}`];
  const planned = reads.track('golden', (view) => planEnvironment(view, env, settings), refusal);
  return shownPlan(planned, tables);
}

test.each(worldsIn(DIR).map((world) => [path.basename(world), world]))('%s', (_name, world) => {
  const text = plan(`${world}.in.yaml`);
  expect(text).toBe(goldenOf(text, `${world}.out.yaml`));
});
