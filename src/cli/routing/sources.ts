// Reads objects from files of any size: YAML or JSON, several documents per file, Lists. Only the objects are kept in
// memory; the position of a field is looked up only for an error about it.
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
const CYCLE = 'an alias stands for something that it is a part of: write out what it stands for';
const DUPLICATE_KEY = 'the key is given twice: remove one of them';

/** A position in a text, counted from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Fields of a list that its items may omit. */
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

/** The objects of the files of `-f`, in order. */
export function* readSources(filenames: readonly string[]): Generator<Source> {
  for (const filename of filenames) {
    for (const [file, text] of filesOf(filename)) {
      // The replacement character stands for bytes that are not UTF-8.
      const broken = text.indexOf('\uFFFD');
      if (broken >= 0) throw invalidFile(positionsIn(file, text)(broken), NOT_UTF8);
      for (const { value, list, where } of /^\s*[{[]/.test(text) ? jsonOf(file, text) : yamlOf(file, text)) {
        if (value !== null && value !== undefined) yield* objectsIn(value, [], where, list);
      }
    }
  }
}

function* yamlOf(file: string, text: string): Generator<Document> {
  for (const { text: chunk, line: before, list } of chunksOf(text)) {
    const positionText = ({ line, column }: Position): string => `${file}:${before + line}:${column}`;
    const again = once(() => parseYaml(chunk));
    const whereIn =
      (index: number) =>
      (at: FieldPath): string => {
        return positionText(again()[index]!.positionOf(at));
      };
    const quick = readPlainYaml(chunk);
    if (quick !== undefined) {
      yield { value: quick, where: whereIn(0), ...(list && { list }) };
      continue;
    }
    for (const [index, { problems, value, positionOf }] of parseYaml(chunk).entries()) {
      const problem = problems.find(({ isWarning }) => !isWarning) ?? problems[0];
      // kubectl leaves duplicate keys to the server to reject; there is no server here.
      if (problem !== undefined)
        throw invalidFile(positionText(problem), problem.isWarning ? DUPLICATE_KEY : problem.message);
      const read = value();
      const cycle = chunk.includes('*') ? pathOfCycle(read) : undefined;
      if (cycle !== undefined) throw invalidFile(positionText(positionOf(cycle)), `${pathText(cycle)}: ${CYCLE}`);
      yield { value: read, where: whereIn(index), ...(list && { list }) };
    }
  }
}

/** The path of a value that contains itself, if there is one. */
function pathOfCycle(value: unknown, around: readonly unknown[] = [], at: FieldPath = []): FieldPath | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (around.includes(value)) return at;
  for (const [key, part] of Object.entries(value)) {
    const found = pathOfCycle(part, [...around, value], [...at, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
}

/** Reads concatenated JSON values. Text that is not JSON may still be YAML in flow style. */
function* jsonOf(file: string, text: string): Generator<Document> {
  const positionText = positionsIn(file, text);
  const whole = parsed(text);
  const values =
    whole === undefined ? valuesOf(text).map(([each, start]) => ({ each, start, value: parsed(each) })) : [];
  if (values.some(({ value }) => value === undefined)) {
    yield* yamlOf(file, text);
    return;
  }
  const deep = tooDeepJson(text);
  if (deep !== undefined) throw invalidFile(positionText(deep), TOO_DEEP);
  for (const { each, start, value } of whole === undefined ? values : [{ each: text, start: 0, value: whole }]) {
    const again = repeatedKey(each, value);
    if (again !== undefined) throw invalidFile(positionText(start + again), DUPLICATE_KEY);
  }
  if (whole !== undefined) {
    const items = once(() => itemOffsets(text));
    yield { value: whole, where: (at) => positionText(offsetOfField(text, at, items)) };
    return;
  }
  for (const { each, start, value } of values) {
    yield { value, where: (at) => positionText(start + offsetIn(each, at)) };
  }
}

/** Searches only the item that contains the path, not all of a long list. */
function offsetOfField(text: string, at: FieldPath, items: () => readonly number[]): number {
  const [list, index, ...inside] = at;
  const start = list === 'items' && typeof index === 'number' ? items()[index] : undefined;
  if (start === undefined) return offsetIn(text, at);
  return start + offsetIn(text.slice(start, items()[Number(index) + 1]), inside);
}

/** Computes a value on first use, and caches it. */
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
  yield { object, where: (path) => where([...at, ...path]) };
}

/** Items of a `PodList` get their kind from the list. */
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

/** Formats offsets as positions in the file. */
function positionsIn(file: string, text: string): (offset: number) => string {
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
