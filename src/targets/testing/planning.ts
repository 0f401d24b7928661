// Runs plans on a few objects, and prints each step as one line. For unit tests of plans.
import { Reads } from '../../controller/index.ts';
import type { Plan, View } from '../../controller/index.ts';
import { editPatch, keyOf, Tables, timestamp } from '../../kube/index.ts';
import type { AnyKind, Kind, KubeObject, ObjectMeta, Step } from '../../kube/index.ts';
import { targetTables } from '../tables.ts';

export const NOW = Date.parse('2026-01-01T00:10:00Z');

/** The time `seconds` before now, as Kubernetes writes it. */
export function ago(seconds: number): string {
  return timestamp(NOW - seconds * 1000);
}

type Meta = Partial<ObjectMeta>;

/** An object of a kind, as the server would store it. */
export function object<T extends KubeObject>(kind: Kind<T>, name: string, fields: object = {}, metadata: Meta = {}): T {
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: {
      name,
      ...(kind.namespaced && { namespace: 'team' }),
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: ago(60),
      ...metadata,
    },
    ...fields,
  } as unknown as T;
}

/** Runs a plan on these objects, after running it once for the time a minute before. */
export function planIn<R>(objects: readonly KubeObject[], plan: (view: View) => R, now = NOW): R {
  let time = now - 60_000;
  const reads = new Reads({ tables: tablesOf(objects), now: () => time, wake: () => {} });
  try {
    reads.track('test', plan);
    time = now;
    return reads.track('test', plan);
  } finally {
    reads.close();
  }
}

/** Whether a plan on these objects would run again when one of them changes, or another is created. */
export function isWoken(objects: readonly KubeObject[], plan: (view: View) => unknown, change: KubeObject): boolean {
  const tables = tablesOf(objects);
  let woken = false;
  const reads = new Reads({ tables, now: () => NOW, wake: () => (woken = true) });
  try {
    reads.track('test', plan);
    const metadata = { ...change.metadata, resourceVersion: '2' };
    tables.of(kindOf(change)).observe({ ...change, metadata });
    reads.deliver();
    return woken;
  } finally {
    reads.close();
  }
}

function tablesOf(objects: readonly KubeObject[]): Tables {
  const tables = new Tables();
  for (const each of objects) tables.of(kindOf(each)).observe(each);
  return tables;
}

function kindOf({ kind: name }: KubeObject): AnyKind {
  const kind = targetTables.find(({ kind }) => kind === name);
  if (kind === undefined) throw new Error(`no table for kind ${name}`);
  return kind;
}

/** `make Kind namespace/name` for each step; edits with their patch. Edits without a change are left out. */
export function shown({ steps = [] }: Plan): string[] {
  return steps.flatMap((step) => shownStep(step) ?? []);
}

function shownStep(step: Step): string | undefined {
  const about = step.do === 'edit' ? step.to : step.object;
  const line = `${step.do} ${step.kind.kind} ${keyOf(about.metadata)}`;
  if (step.do !== 'edit') return line;
  const patch = editPatch(step);
  return patch === undefined ? undefined : `${line} ${JSON.stringify(patch)}`;
}

/** The conditions of a plan as `Type=Status Reason: message`. */
export function conditionsIn({ status }: Plan): string[] {
  return (status?.conditions ?? []).map(({ type, status, reason, message }) =>
    `${type}=${status} ${reason}: ${message}`.replace(/: $/, ''),
  );
}
