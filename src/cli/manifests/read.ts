// Reads manifests as kubectl does: files, directories, standard input; YAML 1.1 or JSON, several documents in one.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { AnyObject } from '../../kube/objects.ts';
import { CommandFailed, EXIT } from '../exit.ts';
import { parseYaml } from './kubectl-yaml.ts';

/** An object and where it was read. */
export interface Manifest {
  /** `env.yaml`, or `env.yaml, document 2`. */
  readonly source: string;
  readonly object: AnyObject;
}

/** The objects that `-f` names, in order. */
export function readManifests(filenames: readonly string[]): readonly Manifest[] {
  const manifests = filenames.flatMap(filesOf).flatMap(([source, text]) => parseManifests(source, text));
  if (manifests.length === 0) throw refusal(filenames.join(', '), 'there is no object in it');
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
    throw refusal(filename, (error as Error).message);
  }
}

/** The objects of one text. Empty documents are skipped and lists are opened. */
export function parseManifests(source: string, text: string): readonly Manifest[] {
  const documents = parseYaml(text);
  return documents.flatMap(({ problems, value }, i) => {
    const where = documents.length > 1 ? `${source}, document ${i + 1}` : source;
    const error = problems.find(({ isWarning }) => !isWarning);
    if (error !== undefined) throw refusal(where, `${error.message} at line ${error.line}, column ${error.column}`);
    return objectsOf(where, value());
  });
}

function objectsOf(source: string, value: unknown): Manifest[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) throw refusal(source, 'an object is a mapping of fields');
  const object = value as Partial<AnyObject> & { items?: unknown };
  requireText(source, 'apiVersion', object.apiVersion);
  requireText(source, 'kind', object.kind);
  if (object.kind === 'List' && Array.isArray(object.items)) {
    return object.items.flatMap((item, i) => objectsOf(`${source}, item ${i + 1}`, item));
  }
  requireText(source, 'metadata.name', object.metadata?.name);
  return [{ source, object: object as AnyObject }];
}

/** YAML takes some words, such as `y` and `on`, for something else than text. */
function requireText(source: string, field: string, value: unknown): void {
  if (value === undefined || value === null) throw refusal(source, `${field} is missing`);
  if (typeof value !== 'string') {
    throw refusal(source, `${field} is ${JSON.stringify(value)}, which is no text: put it in quotes`);
  }
}

function refusal(source: string, problem: string): CommandFailed {
  return new CommandFailed(EXIT.error, `-f ${source}: ${problem}`);
}
