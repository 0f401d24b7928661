// Compares the changes of a plan with what happened, the difference of two states, as one line per change.
import { UNKNOWN } from '../../src/controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../src/controller/index.ts';
import { Tables } from '../../src/kube/index.ts';
import type { AnyKind, KubeObject } from '../../src/kube/index.ts';

/** All objects, by kind and key. */
export type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** The differences between two states, by object. */
export function differencesOf(before: State, after: State): Write[] {
  return [...before].flatMap(([kind, objects]) => {
    const others = after.get(kind)!;
    const keys = [...new Set([...objects.keys(), ...others.keys()])].sort();
    return keys
      .filter((key) => objects.get(key) !== others.get(key))
      .map((key): Write => {
        const [one, other] = [objects.get(key), others.get(key)];
        return { kind, before: one, after: other, by: '', for: { kind, object: (other ?? one)! } };
      });
  });
}

/** The user's writes that change one state into the other. */
export function intentsOf(before: State, after: State): Intent[] {
  return differencesOf(before, after).map(({ kind, before: one, after: other }) =>
    other === undefined ||
    (other.metadata.deletionTimestamp !== undefined && one?.metadata.deletionTimestamp === undefined)
      ? { kind, delete: one!.metadata }
      : { kind, put: other },
  );
}

/** Tables that hold a state. */
export function tablesOf(kinds: Iterable<AnyKind>, state: State): Tables {
  const tables = new Tables(kinds);
  for (const [kind, objects] of state) for (const object of objects.values()) tables.of(kind).observe(object);
  return tables;
}

/** A change as one line, with sorted fields. */
export function lineOf({ by: _by, ...rest }: ReportedChange): string {
  const { fields } = rest;
  const change =
    fields === undefined ? rest : { ...rest, fields: fields.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
  const sorted = (_name: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  };
  return JSON.stringify(change, sorted);
}

/** Whether a line is the planned one, in which some values are unknown. */
function matches(planned: string, line: string): boolean {
  const pattern = planned.split(UNKNOWN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join('[^"]+')}$`).test(line);
}

/** Changes that happened but were not planned, and the reverse. */
export function surprises(planned: readonly string[], happened: readonly string[]) {
  return {
    unplanned: happened.filter((line) => !planned.some((each) => matches(each, line))),
    missing: planned.filter((line) => !happened.some((each) => matches(line, each))),
  };
}
