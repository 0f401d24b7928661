// Reads manifests as kubectl does: files, directories or standard input; YAML 1.1 or JSON, also several documents per
// file.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { stringifyJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { invalidFile } from '../exit.ts';
import { parseYaml } from './kubectl-yaml.ts';
import type { FieldPath } from './kubectl-yaml.ts';

/** An object with its positions in the file. */
export interface Manifest {
  /** The position of a field: `env.yaml:3:7`. */
  readonly where: (path: FieldPath) => string;
  readonly object: AnyObject;
}

/** The objects of `-f`, in order. */
export function readManifests(filenames: readonly string[]): readonly Manifest[] {
  const manifests = filenames.flatMap(filesOf).flatMap(([source, text]) => parseManifests(source, text));
  if (manifests.length === 0) throw invalidFile(filenames.join(', '), 'it contains no objects');
  return manifests;
}

/** The files of a path of `-f`, with their texts. */
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
    if (/^https?:/.test(filename)) throw invalidFile(filename, 'URLs are not read: download it, and pipe it to "-f -"');
    throw invalidFile(filename, code === 'ENOENT' ? 'the file does not exist' : message);
  }
}

/** The objects of one text. Empty documents are skipped, and lists are expanded. */
export function parseManifests(source: string, text: string): readonly Manifest[] {
  return parseYaml(text).flatMap(({ problems, value, positionOf }) => {
    const positionText = ({ line, column }: { line: number; column: number }): string => `${source}:${line}:${column}`;
    const error = problems.find(({ isWarning }) => !isWarning);
    if (error !== undefined) throw invalidFile(positionText(error), error.message);
    return objectsOf(value(), (path) => positionText(positionOf(path)));
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

/** Why a document is not an object; undefined for an empty document. */
export function shapeProblem(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    return 'an object is a mapping of fields, and this is a list: write its items as documents, with --- between them';
  }
  return typeof value === 'object' || value === undefined ? undefined : 'an object is a mapping of fields';
}

/** Requires a string: YAML reads some words, such as `y` and `on`, as booleans. */
function requireText(value: unknown, path: FieldPath, where: Manifest['where']): void {
  const field = path.join('.');
  if (value === undefined || value === null) throw invalidFile(where(path), `${field} is missing`);
  if (typeof value !== 'string') {
    throw invalidFile(where(path), `${field} is ${stringifyJson(value)}, which is not a string: put it in quotes`);
  }
}
