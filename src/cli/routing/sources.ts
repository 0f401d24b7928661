// Reads objects from files of any size: YAML or JSON, several documents in one, Lists. Nothing is kept of a document but
// its objects; where a field is written is looked up only when there is something to say about it.
import { LineCounter } from 'yaml';
import { parseJson } from '../../kube/json.ts';
import { pathText, shapeProblem } from '../../routing/index.ts';
import type { FieldPath, Source } from '../../routing/index.ts';
import { invalidFile } from '../exit.ts';
import { parseYaml } from '../manifests/kubectl-yaml.ts';
import { filesOf } from '../manifests/read.ts';
import { TOO_DEEP, tooDeepJson } from '../manifests/yaml-depth.ts';
import { itemOffsets, offsetIn, repeatedKey, valuesOf } from './json-text.ts';
import { readPlainYaml } from './plain-yaml.ts';
import { chunksOf } from './yaml-chunks.ts';

const NOT_UTF8 = 'the text is not UTF-8: save it as UTF-8';
const ENDLESS = 'an alias stands for something that it is a part of: write out what it stands for';
const TWICE = 'the key is given twice: remove one of them';

/** A place in a text, from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Fields of a list that its items may do without. */
interface ListHead {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}

/** One value of a file: a document, or an item of a list. */
interface Document {
  readonly value: unknown;
  readonly list?: ListHead;
  /** `rules.yaml:12:3`. */
  readonly where: (at: FieldPath) => string;
}

/** The objects of the files that `-f` names, in order. */
export function* readSources(filenames: readonly string[]): Generator<Source> {
  for (const filename of filenames) {
    for (const [file, text] of filesOf(filename)) {
      // What reading puts in place of bytes that are no UTF-8.
      const broken = text.indexOf('\uFFFD');
      if (broken >= 0) throw invalidFile(placesIn(file, text)(broken), NOT_UTF8);
      for (const { value, list, where } of /^\s*[{[]/.test(text) ? jsonOf(file, text) : yamlOf(file, text)) {
        if (value !== null && value !== undefined) yield* objectsIn(value, [], where, list);
      }
    }
  }
}

function* yamlOf(file: string, text: string): Generator<Document> {
  for (const { text: chunk, line: before, list } of chunksOf(text)) {
    const told = ({ line, column }: Position): string => `${file}:${before + line}:${column}`;
    const again = once(() => parseYaml(chunk));
    const whereIn =
      (index: number) =>
      (at: FieldPath): string => {
        return told(again()[index]!.positionOf(at));
      };
    const quick = readPlainYaml(chunk);
    if (quick !== undefined) {
      yield { value: quick, where: whereIn(0), ...(list && { list }) };
      continue;
    }
    for (const [index, { problems, value, positionOf }] of parseYaml(chunk).entries()) {
      const problem = problems.find(({ isWarning }) => !isWarning) ?? problems[0];
      // kubectl leaves it to the server to refuse a key that is given twice; there is none here.
      if (problem !== undefined) throw invalidFile(told(problem), problem.isWarning ? TWICE : problem.message);
      const read = plain(value, told);
      const endless = chunk.includes('*') ? placeOfCycle(read) : undefined;
      if (endless !== undefined) throw invalidFile(told(positionOf(endless)), `${pathText(endless)}: ${ENDLESS}`);
      yield { value: read, where: whereIn(index), ...(list && { list }) };
    }
  }
}

/** The value of a document, unless its aliases unfold without end. */
function plain(value: () => unknown, told: (position: Position) => string): unknown {
  try {
    return value();
  } catch (error) {
    throw invalidFile(told({ line: 1, column: 1 }), (error as Error).message);
  }
}

/** Where something is that it is itself a part of. */
function placeOfCycle(value: unknown, around: readonly unknown[] = [], at: FieldPath = []): FieldPath | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (around.includes(value)) return at;
  for (const [key, part] of Object.entries(value)) {
    const found = placeOfCycle(part, [...around, value], [...at, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
}

/** One JSON after another. What is none may still be YAML in braces. */
function* jsonOf(file: string, text: string): Generator<Document> {
  const told = placesIn(file, text);
  const whole = parsed(text);
  const values =
    whole === undefined ? valuesOf(text).map(([each, start]) => ({ each, start, value: parsed(each) })) : [];
  if (values.some(({ value }) => value === undefined)) {
    yield* yamlOf(file, text);
    return;
  }
  const deep = tooDeepJson(text);
  if (deep !== undefined) throw invalidFile(told(deep), TOO_DEEP);
  for (const { each, start, value } of whole === undefined ? values : [{ each: text, start: 0, value: whole }]) {
    const again = repeatedKey(each, value);
    if (again !== undefined) throw invalidFile(told(start + again), TWICE);
  }
  if (whole !== undefined) {
    const items = once(() => itemOffsets(text));
    yield { value: whole, where: (at) => told(offsetOfField(text, at, items)) };
    return;
  }
  for (const { each, start, value } of values) {
    yield { value, where: (at) => told(start + offsetIn(each, at)) };
  }
}

/** Looks into the one item that a place is in, and not through all of a long list. */
function offsetOfField(text: string, at: FieldPath, items: () => readonly number[]): number {
  const [list, index, ...inside] = at;
  const start = list === 'items' && typeof index === 'number' ? items()[index] : undefined;
  if (start === undefined) return offsetIn(text, at);
  return start + offsetIn(text.slice(start, items()[Number(index) + 1]), inside);
}

/** Made when it is first asked for, and kept. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The objects of a value: itself, or the items of a list. */
function* objectsIn(value: unknown, at: FieldPath, where: Document['where'], list: ListHead = {}): Generator<Source> {
  const object = ofList(value, list);
  const items = itemsOf(object);
  if (items !== undefined) {
    for (const [index, item] of items.entries()) {
      yield* objectsIn(item, [...at, 'items', index], where, object as ListHead);
    }
    return;
  }
  const problem = shapeProblem(object);
  if (problem !== undefined) throw invalidFile(where([...at, ...problem.at]), problem.message);
  yield { object, where: (place) => where([...at, ...place]) };
}

/** Items of a `PodList` have their kind from the list. */
function ofList(value: unknown, { apiVersion, kind }: ListHead): unknown {
  if (typeof kind !== 'string' || kind === 'List' || typeof value !== 'object' || value === null) return value;
  return { apiVersion, kind: kind.slice(0, -'List'.length), ...value };
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  const { kind, items } = (value ?? {}) as { readonly kind?: unknown; readonly items?: unknown };
  if (typeof kind !== 'string' || !kind.endsWith('List')) return undefined;
  if (items === undefined || items === null) return [];
  return Array.isArray(items) ? items : undefined;
}

/** Tells offsets of a text as places of its file. */
function placesIn(file: string, text: string): (offset: number) => string {
  const lines = once(() => {
    const counter = new LineCounter();
    counter.addNewLine(0);
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) counter.addNewLine(at + 1);
    return counter;
  });
  return (offset) => {
    const { line, col } = lines().linePos(offset);
    return `${file}:${line}:${col}`;
  };
}
