// A scenario is a folder of numbered YAML files, each one move: what a person does to the cluster, or what must be
// true of it after a while. Moves of one number happen in the order of `MOVES`.
//   NN-apply.yaml    these objects, as `kubectl apply` has them
//   NN-patch.yaml    objects with the fields to merge into those of the same name; null takes a field away
//   NN-delete.yaml   objects that shall go
//   NN-wait.yaml     objects with a field `for`, as `kubectl wait --for` has it
//   NN-assert.yaml   each object exists and holds these fields: lists as a whole (conditions by type), null where a field
//                    must be absent; an object without a name stands for any of its kind in its namespace
//   NN-errors.yaml   no object holds these fields
// `$ns` stands for the namespace that the run gives. The comment on top says what the move is about.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { AnyObject } from '../../src/kube/objects.ts';

const MOVES = ['apply', 'patch', 'delete', 'wait', 'assert', 'errors'] as const;

export interface Move {
  /** `01-assert` */
  readonly name: string;
  readonly does: (typeof MOVES)[number];
  readonly about: string;
  readonly objects: readonly AnyObject[];
}

const FOLDER = path.join(import.meta.dirname, 'scenarios');

/** The names of all scenarios. */
export function scenarioNames(): readonly string[] {
  return readdirSync(FOLDER).sort();
}

/** The moves of a scenario in their order, for one namespace. */
export function readScenario(name: string, namespace: string): readonly Move[] {
  const folder = path.join(FOLDER, name);
  const moves = readdirSync(folder).map((file) => {
    const [, number, word] = /^(\d\d)-([a-z]+)\.yaml$/.exec(file) ?? [];
    const does = MOVES.find((move) => move === word);
    if (number === undefined || does === undefined) {
      throw new Error(`${name}/${file}: a move is called NN-${MOVES.join('|')}.yaml`);
    }
    const text = readFileSync(path.join(folder, file), 'utf8').replaceAll('$ns', namespace);
    const about = /^# *(.*)/.exec(text)?.[1] ?? '';
    return { name: `${number}-${does}`, number, does, about, objects: readObjects(`${name}/${file}`, text) };
  });
  return moves.sort((a, b) => a.number.localeCompare(b.number) || MOVES.indexOf(a.does) - MOVES.indexOf(b.does));
}

function readObjects(file: string, text: string): readonly AnyObject[] {
  return parseAllDocuments(text, { intAsBigInt: true }).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${file}: ${error.message}`);
    return numbers(document.toJS()) as AnyObject;
  });
}

/** Integers as the API's JSON is read: numbers where that is exact. */
function numbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(numbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, numbers(each)]));
}
