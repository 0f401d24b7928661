// A scenario is a folder of numbered YAML files, each one move: something that a user does to the cluster, or an
// assertion that must hold after a while. Moves of one number run in the order of `MOVES`.
//   NN-apply.yaml     objects for `kubectl apply`
//   NN-patch.yaml     objects with the fields to merge into those of the same name; null removes a field
//   NN-status.yaml    the same for their status, as another controller would write it
//   NN-delete.yaml    objects to delete; waits until they are gone
//   NN-deleting.yaml  objects to delete, without waiting
//   NN-advance.yaml   `time: 2m`: advances the controllers' clock
//   NN-wait.yaml      objects with a field `for`, as in `kubectl wait --for`
//   NN-assert.yaml    each object exists and has these fields: lists as a whole (conditions by type), null for a field
//                     that must be absent
//   NN-errors.yaml    no object has these fields
//   NN-order.yaml     objects got these fields one after the other, or were deleted (`gone: true`)
//   NN-phases.yaml    objects with a field `phases`: all phases of their status from the beginning; one that ends in a
//                     question mark is optional
// An object without a name stands for any of its kind in its namespace; in a write, for all with its labels. `$ns`
// stands for the namespace of the run, which may define further words. The first comment says what the move is about.
// `settings.yaml` has settings for the controllers.
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
  'advance',
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

/** The values of words such as `$ns`. */
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

  /** The objects of one move, such as `01-apply`. */
  objects(name: string, move: string, words: Words): readonly AnyObject[] {
    return this.moves(name, words).find((each) => each.name === move)!.objects;
  }

  /** The settings of a scenario for the controllers. */
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

/** Integers as the client reads them from JSON: numbers where that is exact, else bigint. */
function numbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(numbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, numbers(each)]));
}
