// Typed access to the parsed YAML of a kubeconfig; every error names the file and the field. Used by kubeconfig.ts.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** One mapping somewhere in a kubeconfig file. */
export class KubeconfigFields {
  readonly #file: string;
  readonly #directory: string;
  readonly #path: string;
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(file: string, directory: string, path: string, value: unknown) {
    this.#file = file;
    this.#directory = directory;
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`${file}: ${path === '' ? 'the file' : path} must be a mapping, found ${describe(value)}`);
    }
    this.#values = value as Record<string, unknown>;
  }

  /** An error about one field of this mapping. */
  error(field: string, what: string): Error {
    return new Error(`${this.#file}: ${this.#at(field)}: ${what}`);
  }

  string(field: string): string | undefined {
    return this.#typed(field, 'a string', (value): value is string => typeof value === 'string');
  }

  requiredString(field: string): string {
    const value = this.string(field);
    if (value === undefined || value === '') throw this.error(field, 'is missing');
    return value;
  }

  boolean(field: string): boolean | undefined {
    return this.#typed(field, 'true or false', (value): value is boolean => typeof value === 'boolean');
  }

  strings(field: string): readonly string[] | undefined {
    return this.#typed(
      field,
      'a list of strings',
      (value): value is string[] => Array.isArray(value) && value.every((part) => typeof part === 'string'),
    );
  }

  object(field: string): KubeconfigFields | undefined {
    const value = this.#values[field];
    return value === undefined || value === null ? undefined : this.#child(this.#at(field), value);
  }

  /** An empty mapping in place of an absent field. */
  empty(field: string): KubeconfigFields {
    return this.#child(this.#at(field), {});
  }

  /** The mappings of a list; an absent list is empty. */
  list(field: string): KubeconfigFields[] {
    const value = this.#typed(field, 'a list', (value): value is unknown[] => Array.isArray(value)) ?? [];
    return value.map((part, index) => this.#child(this.#label(field, index, part), part));
  }

  /** The names of all fields. */
  keys(): string[] {
    return Object.keys(this.#values);
  }

  /** The value as it was parsed, for fields that are only passed on. */
  raw(field: string): unknown {
    return this.#values[field];
  }

  /** A file name, relative to the kubeconfig file. */
  path(field: string): string | undefined {
    const value = this.string(field);
    return value ? this.resolve(value) : undefined;
  }

  resolve(path: string): string {
    return resolve(this.#directory, path);
  }

  /** The content of `FIELD-data` (base64) or of the file that `FIELD` names. Data takes precedence, as in kubectl. */
  dataOrFile(field: string): string | undefined {
    const data = this.string(`${field}-data`);
    if (data) {
      const bytes = Buffer.from(data, 'base64');
      if (bytes.length === 0 || !/^[\w+/\s=-]+$/.test(data)) throw this.error(`${field}-data`, 'is not base64');
      return bytes.toString('utf8');
    }
    const path = this.path(field);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw this.error(field, (error as Error).message);
    }
  }

  #child(path: string, value: unknown): KubeconfigFields {
    return new KubeconfigFields(this.#file, this.#directory, path, value);
  }

  #at(field: string): string {
    return this.#path === '' ? field : `${this.#path}.${field}`;
  }

  /** `clusters[dev]` where the entry has a name, `clusters[0]` otherwise. */
  #label(field: string, index: number, value: unknown): string {
    const name: unknown = typeof value === 'object' && value !== null ? (value as { name?: unknown }).name : undefined;
    return `${this.#at(field)}[${typeof name === 'string' && name !== '' ? name : index}]`;
  }

  #typed<T>(field: string, expected: string, matches: (value: unknown) => value is T): T | undefined {
    const value = this.#values[field];
    if (value === undefined || value === null) return undefined;
    // The value may be a secret: name only its type.
    if (!matches(value)) throw this.error(field, `must be ${expected}, found ${describe(value)}`);
    return value;
  }
}

function describe(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`;
}
