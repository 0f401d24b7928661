// Prints the results of all commands, in the format of -o.
import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import { evaluateTemplate } from '../jsonpath/evaluate.ts';
import { JsonPathError, parseTemplate } from '../jsonpath/parse.ts';

/** Data formats: JSON and YAML that kubectl can read back, and jsonpath templates. */
export type DataFormat = 'json' | 'yaml' | `jsonpath=${string}`;
export type OutputFormat = 'table' | 'wide' | 'name' | DataFormat;

export interface Result {
  /** The data for -o json, yaml and jsonpath. */
  readonly data: unknown;
  /** The names for -o name. */
  readonly names?: readonly string[];
  /** The lines of text. */
  readonly lines: (isWide: boolean) => readonly string[];
}

export function printResult(output: OutputFormat | undefined, result: Result): void {
  if (isData(output)) process.stdout.write(dataText(output, result.data));
  else printLines(resultLines(output, result));
}

/** A result as lines, for output that is redrawn. */
export function resultLines(output: OutputFormat | undefined, { data, names = [], lines }: Result): readonly string[] {
  if (isData(output)) return dataText(output, data).replace(/\n$/, '').split('\n');
  return output === 'name' ? names : lines(output === 'wide');
}

/** Prints objects as they are written or deleted, with the outcome; data formats print all of them at the end. */
export function objectPrinter(output: OutputFormat | undefined): {
  print(object: KubeObject, outcome: string): void;
  end(): void;
} {
  const objects: KubeObject[] = [];
  return {
    print(object, outcome) {
      objects.push(object);
      if (!isData(output)) printLines([output === 'name' ? nameText(object) : `${nameText(object)} ${outcome}`]);
    },
    end() {
      if (isData(output)) process.stdout.write(dataText(output, objectData(objects, objects.length !== 1)));
    },
  };
}

function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

export function isData(output: OutputFormat | undefined): output is DataFormat {
  return output === 'json' || output === 'yaml' || templateOf(output) !== undefined;
}

/** The template of `jsonpath=TEMPLATE`. */
function templateOf(output: string | undefined): string | undefined {
  return output?.startsWith('jsonpath=') ? output.slice('jsonpath='.length) : undefined;
}

/** A value in a data format. */
export function dataText(format: DataFormat, value: unknown): string {
  if (format === 'json') return jsonText(value);
  if (format === 'yaml') return yamlText(value);
  try {
    return evaluateTemplate(parseTemplate(templateOf(format)!), value);
  } catch (error) {
    if (error instanceof JsonPathError) throw failure('InvalidFlag', `-o ${format}: ${error.message}`);
    throw error;
  }
}

// JSON.rawJSON is not in TypeScript's library yet.
const native = JSON as unknown as { rawJSON(text: string): unknown };

/** A value as indented JSON; integers of any size stay exact. */
function jsonText(value: unknown): string {
  const exact = (_key: string, part: unknown): unknown =>
    typeof part === 'bigint' ? native.rawJSON(String(part)) : part;
  return `${JSON.stringify(value, exact, 2)}\n`;
}

/** A value as YAML that parsers of YAML 1.1, such as kubectl's, read correctly. */
export function yamlText(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}

/** Objects as `kubectl get` prints them: a single object, or a List. */
export function objectData(objects: readonly KubeObject[], asList: boolean): unknown {
  const items = objects.map(withoutManagedFields);
  return asList ? { apiVersion: 'v1', kind: 'List', metadata: {}, items } : items[0];
}

/** An object or, with a type, its watch event as `kubectl get --output-watch-events` prints it. */
export function watchedData(object: KubeObject, type?: string): unknown {
  const shown = withoutManagedFields(object);
  return type === undefined ? shown : { type, object: shown };
}

/** `dynamicenv.riskified.com/feature`. */
export function nameText({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${kind.toLowerCase()}${group}/${metadata.name}`;
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _bookkeeping, ...metadata } = object.metadata;
  return { ...object, metadata };
}
