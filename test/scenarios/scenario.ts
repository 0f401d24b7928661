// A scenario is a folder of numbered YAML files, each one move: what a person does to the cluster, or what must be
// true of it after a while. Moves of one number happen in the order of `MOVES`.
//   NN-apply.yaml     these objects, as `kubectl apply` has them
//   NN-patch.yaml     objects with the fields to merge into those of the same name; null takes a field away
//   NN-status.yaml    the same for their status, as whoever else manages them would
//   NN-delete.yaml    objects that should go; waits until they are gone
//   NN-deleting.yaml  objects that should go and will be held for a while
//   NN-pass.yaml      `time: 2m`: so much time goes by for the controllers
//   NN-wait.yaml      objects with a field `for`, as `kubectl wait --for` has it
//   NN-assert.yaml    each object exists and holds these fields: lists as a whole (conditions by type), null where a
//                     field must be absent
//   NN-errors.yaml    no object holds these fields
//   NN-order.yaml     objects came to hold these fields one after the other, or to be `gone: true`
//   NN-phases.yaml    objects with a field `phases`: all that their status went through, from the beginning; one that
//                     ends in a question mark may be missing
// An object without a name stands for any of its kind in its namespace: to be changed, for all with its labels. `$ns`
// stands for the namespace that the run gives; a run may have other words. The comment on top says what the move is
// about. A file `settings.yaml` is for the controllers.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { AnyObject } from '../../src/kube/objects.ts';

const MOVES = [
  'apply',
  'patch',
  'status',
  'delete',
  'deleting',
  'pass',
  'wait',
  'assert',
  'errors',
  'order',
  'phases',
] as const;
const SETTINGS = 'settings.yaml';

export interface Move {
  /** `01-assert` */
  readonly name: string;
  readonly does: (typeof MOVES)[number];
  readonly about: string;
  readonly objects: readonly AnyObject[];
}

/** What words such as `$ns` stand for. */
export type Words = Readonly<Record<string, string>> & { readonly ns: string };

/** The scenarios of a part of the product. */
export class Scenarios {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The names of all scenarios. */
  get names(): readonly string[] {
    return readdirSync(this.#folder).sort();
  }

  /** The moves of a scenario in their order. */
  moves(name: string, words: Words): readonly Move[] {
    const folder = path.join(this.#folder, name);
    const files = readdirSync(folder).filter((file) => file !== SETTINGS);
    const moves = files.map((file) => {
      const [, number, word] = /^(\d\d)-([a-z]+)\.yaml$/.exec(file) ?? [];
      const does = MOVES.find((move) => move === word);
      if (number === undefined || does === undefined) {
        throw new Error(`${name}/${file}: a move is called NN-${MOVES.join('|')}.yaml`);
      }
      const text = replaceWords(readFileSync(path.join(folder, file), 'utf8'), words);
      const about = /^# *(.*)/.exec(text)?.[1] ?? '';
      return { name: `${number}-${does}`, number, does, about, objects: readObjects(`${name}/${file}`, text) };
    });
    return moves.sort((a, b) => a.number.localeCompare(b.number) || MOVES.indexOf(a.does) - MOVES.indexOf(b.does));
  }

  /** What a scenario wants the controllers to be set to. */
  settings(name: string): Readonly<Record<string, unknown>> {
    const file = path.join(this.#folder, name, SETTINGS);
    return existsSync(file) ? (parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
  }
}

function replaceWords(text: string, words: Words): string {
  return text.replaceAll(/\$([a-z]+)/g, (all, word: string) => words[word] ?? all);
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
