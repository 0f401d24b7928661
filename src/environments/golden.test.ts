// Every `testdata/NAME.in.yaml` is a small world; the plan of its environment must be what `NAME.out.yaml` says.
// `UPDATE_GOLDEN=1 npm test -- golden` writes the outputs anew: read the difference before you commit it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import * as z from 'zod';
import { goldenOf } from '../../test/support/golden.ts';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { Reads } from '../controller/index.ts';
import type { Plan, Refusal, Status } from '../controller/index.ts';
import { createMergePatch, editPatch, keyOf, Tables } from '../kube/index.ts';
import type { AnyKind, KubeObject, Step } from '../kube/index.ts';
import { jsonEqual } from '../watchable/index.ts';
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

function plan(file: string): unknown {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1', intAsBigInt: true });
  const [first, ...objects] = documents.map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS({ reviver: asRead }) as unknown;
  });
  const head = Head.parse(first);
  // Most worlds are about what is written in the end.
  const settings = { ...defaultSettings, settleMs: 0, ...head.settings };
  const tables = new Tables(environmentTables(settings));
  let version = 0;
  for (const object of objects as KubeObject[]) {
    const kind = KINDS.find(({ kind: name }) => name === object.kind);
    if (kind === undefined) throw new Error(`${file}: no table for kind ${object.kind}`);
    const metadata = { uid: `uid-${++version}`, resourceVersion: String(version), generation: 1, ...object.metadata };
    tables.of(kind).observe({ ...object, metadata });
  }
  for (const kind of KINDS) if (head.notServed.includes(kind.kind)) tables.of(kind).notServed();
  const now = Date.parse(head.now);
  const reads = new Reads({ tables, now: () => now, wake: () => {} });
  const env = tables.of(DynamicEnv).get(head.plan);
  if (env === undefined) throw new Error(`${file}: plan: there is no DynamicEnv ${head.plan}`);
  const refusal: Refusal = ({ kind }, ref) => head.refused[`${kind} ${keyOf(ref)}`];
  const planned = reads.track('golden', (view) => planEnvironment(view, env, settings), refusal);
  return shown(planned, tables);
}

/** Integers as they come from the API: bigints only where a number would not hold them. */
function asRead(_key: unknown, value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** A plan as a reviewer wants to read it: of what is there already only what changes. */
function shown({ steps = [], events = [], status, ...rest }: Plan, tables: Tables): unknown {
  return plain({
    steps: steps.map((step) => shownStep(step, tables)),
    ...(status && { status: { ...status, conditions: status.conditions?.map(shownCondition) } }),
    ...rest,
    events: events.map(({ reason, note }) => `${reason}: ${note}`),
  });
}

function shownCondition(condition: NonNullable<Status['conditions']>[number]): string {
  const since = 'lastTransitionTime' in condition ? ` since ${condition.lastTransitionTime}` : '';
  return `${condition.type}=${condition.status}${since} ${condition.reason}: ${condition.message}`.trimEnd();
}

function shownStep(step: Step, tables: Tables): unknown {
  const object = step.do === 'edit' ? step.to : step.object;
  const of = `${step.kind.kind} ${keyOf(object.metadata)}`;
  if (step.do === 'remove') return { remove: of };
  if (step.do === 'edit') return { edit: of, patch: editPatch(step) };
  const live = tables.of(step.kind).get(keyOf(object.metadata));
  if (live === undefined) return { make: object };
  const patch = withoutNulls(createMergePatch({ ...live }, { ...object }, jsonEqual));
  return patch === undefined ? { keep: of } : { change: of, patch };
}

/** Applying an object takes no field away that it never had. */
function withoutNulls(patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch ?? undefined;
  const fields = Object.entries(patch)
    .map(([name, value]) => [name, withoutNulls(value)] as const)
    .filter(([, value]) => value !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
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
  expect(text).toBe(goldenOf(text, output));
});
