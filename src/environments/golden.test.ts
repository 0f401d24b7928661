// Every `testdata/NAME.in.yaml` is a small world; the plan of its environment must be what `NAME.out.yaml` says.
// `UPDATE_GOLDEN=1 npm test -- golden` writes the outputs anew: read the difference before you commit it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { z } from 'zod';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { Reads } from '../controller/index.ts';
import type { Plan } from '../controller/index.ts';
import { editPatch, keyOf, Tables } from '../kube/index.ts';
import type { AnyKind, KubeObject, Step } from '../kube/index.ts';
import { defaultSettings, environmentTables, planEnvironment } from './index.ts';
import { Deployment, DestinationRule, Service, VirtualService } from './objects.ts';

const DIR = path.join(import.meta.dirname, 'testdata');
const KINDS: readonly AnyKind[] = [DynamicEnv, Deployment, Service, DestinationRule, VirtualService];

/** The first document of an input: what the world is about. Unknown fields are refused. */
const Head = z.strictObject({
  about: z.string(),
  plan: z.string(),
  now: z.string().default('2026-01-01T00:10:00Z'),
  settings: z
    .strictObject({
      versionLabel: z.string(),
      defaultVersion: z.string(),
      removeLabels: z.array(z.string()),
      routeAfterMs: z.number(),
      drainMs: z.number(),
    })
    .partial()
    .default({}),
});

function plan(file: string): unknown {
  const [first, ...objects] = parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1', intAsBigInt: false }).map(
    (document) => document.toJS() as unknown,
  );
  const head = Head.parse(first);
  const tables = new Tables(environmentTables);
  let version = 0;
  for (const object of objects as KubeObject[]) {
    const kind = KINDS.find(({ kind: name }) => name === object.kind);
    if (kind === undefined) throw new Error(`${file}: no table for kind ${object.kind}`);
    const metadata = { uid: `uid-${++version}`, resourceVersion: String(version), generation: 1, ...object.metadata };
    tables.of(kind).observe({ ...object, metadata });
  }
  const now = Date.parse(head.now);
  const reads = new Reads({ tables, now: () => now, wake: () => {} });
  const env = tables.of(DynamicEnv).get(head.plan);
  if (env === undefined) throw new Error(`${file}: plan: there is no DynamicEnv ${head.plan}`);
  return shown(reads.track('golden', (view) => planEnvironment(view, env, { ...defaultSettings, ...head.settings })));
}

/** A plan as a reviewer wants to read it: of edits only what changes. */
function shown({ steps = [], events = [], ...rest }: Plan): unknown {
  return plain({
    steps: steps.map(shownStep),
    ...rest,
    events: events.map(({ reason, note }) => `${reason}: ${note}`),
  });
}

function shownStep(step: Step): unknown {
  if (step.do === 'own') return { own: step.object };
  const of = `${step.kind.kind} ${keyOf(step.do === 'edit' ? step.to.metadata : step.object.metadata)}`;
  return step.do === 'edit' ? { edit: of, patch: editPatch(step) } : { remove: of };
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each)));
}

const names = readdirSync(DIR)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''));

test.each(names)('%s', (name) => {
  const output = path.join(DIR, `${name}.out.yaml`);
  const text = stringify(plan(path.join(DIR, `${name}.in.yaml`)), { version: '1.1', lineWidth: 0 });
  if (process.env['UPDATE_GOLDEN'] || !existsSync(output)) writeFileSync(output, text);
  expect(text).toBe(readFileSync(output, 'utf8'));
});
