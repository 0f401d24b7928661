// Reads manifests as kubectl does: files, directories, standard input; YAML 1.1 or JSON, several documents in one.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { stringifyJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { invalidFile } from '../exit.ts';
import { parseYaml } from './kubectl-yaml.ts';
import type { FieldPath } from './kubectl-yaml.ts';

/** An object and where it was read. */
export interface Manifest {
  /** Where a field of it is: `env.yaml:3:7`. */
  readonly where: (path: FieldPath) => string;
  readonly object: AnyObject;
}

/** The objects that `-f` names, in order. */
export function readManifests(filenames: readonly string[]): readonly Manifest[] {
  const manifests = filenames.flatMap(filesOf).flatMap(([source, text]) => parseManifests(source, text));
  if (manifests.length === 0) throw invalidFile(filenames.join(', '), 'it contains no objects');
  return manifests;
}

/** The files that a path of `-f` stands for, with their texts. */
export function filesOf(filename: string): [source: string, text: string][] {
  if (filename === '-') return [['standard input', readFileSync(0, 'utf8')]];
  try {
    if (!statSync(filename).isDirectory()) return [[filename, readFileSync(filename, 'utf8')]];
    const names = readdirSync(filename).filter((name) => /\.(ya?ml|json)$/.test(name));
    return names.sort().map((name) => {
      const file = path.join(filename, name);
      return [file, readFileSync(file, 'utf8')];
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw invalidFile(filename, code === 'ENOENT' ? 'the file does not exist' : message);
  }
}

/** The objects of one text. Empty documents are skipped and lists are opened. */
export function parseManifests(source: string, text: string): readonly Manifest[] {
  return parseYaml(text).flatMap(({ problems, value, positionOf }) => {
    const told = ({ line, column }: { line: number; column: number }): string => `${source}:${line}:${column}`;
    const error = problems.find(({ isWarning }) => !isWarning);
    if (error !== undefined) throw invalidFile(told(error), error.message);
    return objectsOf(value(), (path) => told(positionOf(path)));
  });
}

function objectsOf(value: unknown, where: Manifest['where']): Manifest[] {
  if (value === null || value === undefined) return [];
  const problem = shapeProblem(value);
  if (problem !== undefined) throw invalidFile(where([]), problem);
  const object = value as Partial<AnyObject> & { items?: unknown };
  requireText(object.apiVersion, ['apiVersion'], where);
  requireText(object.kind, ['kind'], where);
  if (object.kind === 'List' && Array.isArray(object.items)) {
    return object.items.flatMap((item, i) => objectsOf(item, (path) => where(['items', i, ...path])));
  }
  requireText(object.metadata?.name, ['metadata', 'name'], where);
  return [{ where, object: object as AnyObject }];
}

/** Why a document is no object; undefined for one that may be, and for one that is empty. */
export function shapeProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return 'an object is a mapping of fields, and this is a list: write its items as documents, with --- between them';
  }
  return typeof value === 'object' || value === undefined ? undefined : 'an object is a mapping of fields';
}

/** YAML takes some words, such as `y` and `on`, for something else than text. */
function requireText(value: unknown, path: FieldPath, where: Manifest['where']): void {
  const field = path.join('.');
  if (value === undefined || value === null) throw invalidFile(where(path), `${field} is missing`);
  if (typeof value !== 'string') {
    throw invalidFile(where(path), `${field} is ${stringifyJson(value)}, which is not a string: put it in quotes`);
  }
}
