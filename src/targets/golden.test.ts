// Every `*/testdata/NAME.in.yaml` is a small world; the plan of one of its objects must be what `NAME.out.yaml` says.
// `UPDATE_GOLDEN=1 npm test -- targets/golden` writes the outputs again: read the difference before you commit it.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { observeAll, readWorld, shownPlan, worldsIn } from '../../test/support/golden-plan.ts';
import { goldenOf } from '../../test/support/golden.ts';
import { Reads } from '../controller/index.ts';
import { Tables } from '../kube/index.ts';
import { targetTables } from './tables.ts';
import { defaultSettings, targets } from './index.ts';

/** The first document of an input: describes the world. Unknown fields are rejected. */
const Head = z.strictObject({
  about: z.string(),
  /** The controller that plans, and the object. */
  controller: z.string(),
  plan: z.string(),
  now: z.string().default('2026-01-01T00:10:00Z'),
  /** Kinds that the cluster does not serve. */
  notServed: z.array(z.string()).default([]),
  settings: z
    .strictObject({
      claimDeletion: z.enum(['wait', 'eager']),
      provisionerAnnotation: z.enum(['provisioner', 'class']),
      claimRefShape: z.enum(['string', 'object']),
      lostHeals: z.enum(['reference', 'name']),
      removeUnbound: z.boolean(),
      rootSpace: z.string(),
    })
    .partial()
    .default({}),
});

function plan(file: string): string {
  const { head, objects } = readWorld(file, Head);
  const controllers = targets({ ...defaultSettings, ...head.settings });
  const controller = controllers.find(({ name }) => name === head.controller);
  if (controller === undefined) throw new Error(`${file}: controller: there is no ${head.controller}`);
  const tables = new Tables();
  observeAll(tables, targetTables, objects);
  for (const kind of targetTables) if (head.notServed.includes(kind.kind)) tables.of(kind).notServed();
  // Planned once a minute earlier too: delays for objects that may still arrive are over.
  let now = Date.parse(head.now) - 60_000;
  const reads = new Reads({ tables, now: () => now, wake: () => {} });
  const object = tables.of(controller.kind).get(head.plan);
  if (object === undefined) throw new Error(`${file}: plan: there is no ${controller.kind.kind} ${head.plan}`);
  reads.track('golden', (view) => controller.plan(view, object));
  now += 60_000;
  return shownPlan(
    reads.track('golden', (view) => controller.plan(view, object)),
    tables,
  );
}

const folders = readdirSync(import.meta.dirname)
  .map((name) => path.join(import.meta.dirname, name, 'testdata'))
  .filter((folder) => existsSync(folder));
const worlds = folders.flatMap(worldsIn);
const nameOf = (world: string): string => path.relative(import.meta.dirname, world).replace('testdata/', '');

test.each(worlds.map((world) => [nameOf(world), world]))('%s', (_name, world) => {
  const text = plan(`${world}.in.yaml`);
  expect(text).toBe(goldenOf(text, `${world}.out.yaml`));
});
