// Compares what was foretold with what happened: two states of a world, as changes in one line each.
import { UNKNOWN } from '../../src/controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../src/controller/index.ts';
import { Tables } from '../../src/kube/index.ts';
import type { AnyKind, KubeObject } from '../../src/kube/index.ts';

/** All objects, by kind and key. */
export type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

/** What differs between two states, object by object. */
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

/** What somebody has done who changed one state into the other. */
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

/** A change in one line; of what is made, all that it says. */
export function lineOf({ by: _by, ...change }: ReportedChange): string {
  const sorted = (_name: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  };
  return JSON.stringify(change, sorted);
}

/** Whether a line is what was foretold, where not everything was known. */
function fits(foretold: string, line: string): boolean {
  const pattern = foretold.split(UNKNOWN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join('[^"]+')}$`).test(line);
}

/** What happened and was not foretold, and the other way round. */
export function surprises(foretold: readonly string[], happened: readonly string[]) {
  return {
    unforeseen: happened.filter((line) => !foretold.some((each) => fits(each, line))),
    missing: foretold.filter((line) => !happened.some((each) => fits(line, each))),
  };
}
