// Golden files of planners: `NAME.in.yaml` has the objects of a small world, `NAME.out.yaml` the plan for it, both
// readable. The first document of a world says what it is about; the others are its objects.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type * as z from 'zod';
import type { Plan, Status } from '../../src/controller/index.ts';
import { createMergePatch, editPatch, keyOf } from '../../src/kube/index.ts';
import type { AnyKind, KubeObject, Step, Tables } from '../../src/kube/index.ts';
import { jsonEqual } from '../../src/watchable/index.ts';

/** A world, read from a file. */
interface World<H> {
  readonly head: H;
  readonly objects: readonly KubeObject[];
}

/** The names of the worlds in a folder. */
export function worldsIn(dir: string): readonly string[] {
  const ending = '.in.yaml';
  return readdirSync(dir)
    .filter((name) => name.endsWith(ending))
    .map((name) => path.join(dir, name.slice(0, -ending.length)));
}

/** Reads a world. Objects get the metadata that a server would set, where they have none. */
export function readWorld<S extends z.ZodType>(file: string, Head: S): World<z.output<S>> {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1', intAsBigInt: true });
  const [first, ...objects] = documents.map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS({ reviver: asRead }) as unknown;
  });
  const served = (objects as KubeObject[]).map((object, at) => ({
    ...object,
    metadata: { uid: `uid-${at + 1}`, resourceVersion: String(at + 1), generation: 1, ...object.metadata },
  }));
  return { head: Head.parse(first), objects: served };
}

/** Puts the objects of a world into tables of these kinds. */
export function observeAll(tables: Tables, kinds: readonly AnyKind[], objects: readonly KubeObject[]): void {
  for (const object of objects) {
    const kind = kinds.find((each) => each.kind === object.kind);
    if (kind === undefined) throw new Error(`no table for kind ${object.kind}`);
    tables.of(kind).observe(object);
  }
}

/** Integers as the client reads them from JSON: bigint only where a number is not exact. */
function asRead(_key: unknown, value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** A plan for review: only the changes of objects that exist. */
export function shownPlan({ steps = [], events = [], status, ...rest }: Plan, tables: Tables): string {
  const shown = {
    steps: steps.map((step) => shownStep(step, tables)),
    ...(status && { status: { ...status, conditions: status.conditions?.map(shownCondition) } }),
    ...rest,
    events: events.map(({ reason, note }) => `${reason}: ${note}`),
  };
  return stringify(plain(shown), { version: '1.1', lineWidth: 0 });
}

function shownCondition(condition: NonNullable<Status['conditions']>[number]): string {
  const since = 'lastTransitionTime' in condition ? ` since ${condition.lastTransitionTime}` : '';
  return `${condition.type}=${condition.status}${since} ${condition.reason}: ${condition.message}`.trimEnd();
}

function shownStep(step: Step, tables: Tables): unknown {
  const object = step.do === 'edit' ? step.to : step.object;
  const of = `${step.kind.kind} ${keyOf(object.metadata)}`;
  if (step.do === 'remove') return { remove: of };
  if (step.do === 'edit') {
    const patch = editPatch(step);
    return patch === undefined ? { keep: of } : { edit: of, patch };
  }
  const { serviceAccount } = step as { serviceAccount?: { name: string; namespace?: string } };
  const token = serviceAccount && { token: keyOf(serviceAccount) };
  const live = tables.of(step.kind).get(keyOf(object.metadata));
  if (live === undefined) return { make: object, ...token };
  const patch = withoutNulls(createMergePatch({ ...live }, { ...object }, jsonEqual));
  return patch === undefined ? { keep: of, ...token } : { change: of, patch, ...token };
}

/** Removes null fields: applying an object removes no field that it never had. */
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
