// Adds a context to the user's kubeconfig and removes it again, without changing anything else in it. Pure; merge.ts
// reads and writes the file.
import { isDeepStrictEqual } from 'node:util';
import { isMap, isSeq, parse, parseDocument, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Document, Node } from 'yaml';

/** A context with its cluster and user; all three have the same name. */
export interface OwnContext {
  readonly name: string;
  readonly server: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
  /** The process that serves the cluster. */
  readonly pid: number;
}

const LISTS = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;
/** Names the extension that marks a context as ours, with the previous context and whether we created the file. */
const EXTENSION = 'offshoot.dev';

/** The formatting of kubectl, so that little of the file changes. */
const AS_KUBECTL = { lineWidth: 0, indentSeq: false, flowCollectionPadding: false } as const;

/**
 * The text with the context added and made current; an undefined text stands for a missing file. Throws if another
 * entry has that name.
 */
export function withContext(text: string | undefined, own: OwnContext, isAlive: (pid: number) => boolean): string {
  const document = read(text ?? '');
  const { name } = own;
  const before = extensionOf(document, name);
  const isThere = Object.keys(LISTS).some((list) => indexOf(document, list, name) >= 0);
  if (isThere && before === undefined) {
    throw new Error(`it has an entry "${name}" that "offshoot up" did not make; choose another name`);
  }
  if (before !== undefined && before.pid !== own.pid && isAlive(before.pid)) {
    throw new Error(`its context "${name}" is that of the process ${before.pid}, which runs; choose another name`);
  }
  const isNewFile = text === undefined || isNew(document);
  const current = textOf(document.get('current-context'));
  const previous = current === name ? before?.previous : current;
  removeEntries(document, name);
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  addEntry(document, 'clusters', name, {
    server: own.server,
    'certificate-authority-data': base64(own.caPem),
  });
  addEntry(document, 'users', name, {
    'client-certificate-data': base64(own.certPem),
    'client-key-data': base64(own.keyPem),
  });
  const extension = {
    pid: String(own.pid),
    ...(previous !== undefined && { previous }),
    ...(isNewFile && { newFile: 'true' }),
  };
  addEntry(document, 'contexts', name, { cluster: name, user: name, extensions: [{ name: EXTENSION, extension }] });
  document.set('current-context', nameScalar(name));
  if (!document.has('apiVersion')) document.set('apiVersion', 'v1');
  if (!document.has('kind')) document.set('kind', 'Config');
  return write(document, text ?? '', name);
}

/**
 * The text without the context of a process; undefined if it is not there or belongs to another process by now; empty
 * if we created the file and nobody else has written to it.
 */
export function withoutContext(text: string, name: string, pid: number): string | undefined {
  const document = read(text);
  const extension = extensionOf(document, name);
  if (extension?.pid !== pid) return undefined;
  removeEntries(document, name);
  for (const path of [['current-context'], ...previousIn(document)]) {
    if (textOf(document.getIn(path)) !== name) continue;
    if (extension.previous === undefined) document.deleteIn(path);
    else document.setIn(path, nameScalar(extension.previous));
  }
  const { apiVersion: _version, kind: _kind, ...rest } = fieldsOf(document.toJS());
  const isEmpty = Object.values(rest).every((value) => Array.isArray(value) && value.length === 0);
  if (extension.isNewFile && isEmpty) return '';
  return write(document, text, name);
}

/** Parses all scalars as strings, so that no number is written back in another form. */
function read(text: string): Document {
  const document: Document = parseDocument<Node>(text, { schema: 'failsafe' });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(error.message.split('\n')[0]!.replace(/:$/, ''));
  if (document.contents === null || textOf(document.contents) === '') document.contents = new YAMLMap();
  if (!isMap(document.contents)) throw new Error('it is not a mapping');
  return document;
}

/** The text of a document. Throws if entries of others would be changed. */
function write(document: Document, before: string, name: string): string {
  const after = document.toString(AS_KUBECTL);
  if (!isDeepStrictEqual(otherEntries(before, name), otherEntries(after, name))) {
    throw new Error('it cannot be edited without changing other entries; set KUBECONFIG to another file');
  }
  return after;
}

/** Everything that an edit must not change. */
function otherEntries(text: string, name: string): unknown {
  const { 'current-context': _current, apiVersion: _version, kind: _kind, ...rest } = fieldsOf(parse(text));
  const lists = Object.keys(LISTS).map((list) => {
    const entries = Array.isArray(rest[list]) ? (rest[list] as unknown[]) : [];
    return [list, entries.filter((entry) => fieldsOf(entry)['name'] !== name).map(withoutExtension)];
  });
  return { ...rest, ...Object.fromEntries(lists) };
}

function withoutExtension(entry: unknown): unknown {
  const { context, ...rest } = fieldsOf(entry);
  const { extensions, ...fields } = fieldsOf(context);
  if (!Array.isArray(extensions)) return entry;
  const others = extensions.filter((extension) => fieldsOf(extension)['name'] !== EXTENSION);
  return { ...rest, context: { ...fields, extensions: others } };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

interface OwnExtension {
  readonly pid: number;
  readonly previous?: string;
  /** Whether there was no file before. */
  readonly isNewFile: boolean;
}

function extensionOf(document: Document, name: string): OwnExtension | undefined {
  const index = indexOf(document, 'contexts', name);
  const extensions = index < 0 ? undefined : document.getIn(['contexts', index, 'context', 'extensions']);
  const found = isSeq(extensions) ? extensions.toJSON().map(fieldsOf) : [];
  const own = found.find((extension) => extension['name'] === EXTENSION);
  if (own === undefined) return undefined;
  const { pid, previous, newFile } = fieldsOf(own['extension']);
  return { pid: Number(pid), isNewFile: newFile === 'true', ...(typeof previous === 'string' && { previous }) };
}

/** The paths at which our contexts remember the previous context. */
function previousIn(document: Document): (string | number)[][] {
  return extensionPaths(document).map((path) => [...path, 'extension', 'previous']);
}

/** Whether one of our contexts says that we created the file. */
function isNew(document: Document): boolean {
  return extensionPaths(document).some((path) => textOf(document.getIn([...path, 'extension', 'newFile'])) === 'true');
}

/** The paths of our extensions. */
function extensionPaths(document: Document): (readonly (string | number)[])[] {
  const { contexts } = fieldsOf(document.toJS());
  return (Array.isArray(contexts) ? (contexts as unknown[]) : []).flatMap((entry, i) => {
    const { extensions } = fieldsOf(fieldsOf(entry)['context']);
    return (Array.isArray(extensions) ? (extensions as unknown[]) : []).flatMap((extension, k) =>
      fieldsOf(extension)['name'] === EXTENSION ? [['contexts', i, 'context', 'extensions', k]] : [],
    );
  });
}

function indexOf(document: Document, list: string, name: string): number {
  const entries = document.get(list);
  return isSeq(entries) ? entries.items.findIndex((item) => isMap(item) && textOf(item.get('name')) === name) : -1;
}

function removeEntries(document: Document, name: string): void {
  for (const list of Object.keys(LISTS)) {
    for (let index = indexOf(document, list, name); index >= 0; index = indexOf(document, list, name)) {
      document.deleteIn([list, index]);
    }
  }
}

function addEntry(document: Document, list: keyof typeof LISTS, name: string, value: object): void {
  const found = document.get(list);
  const entries = isSeq(found) ? found : new YAMLSeq();
  if (entries.items.length === 0) entries.flow = false;
  entries.add(document.createNode({ name: nameScalar(name), [LISTS[list]]: value }));
  document.set(list, entries);
}

/** Quotes names that YAML would not read as strings. */
function nameScalar(text: string): Scalar {
  const scalar = new Scalar(text);
  if (!/^[a-z][-\w./@:]*$/i.test(text) || /^(true|false|yes|no|on|off|y|n|null)$/i.test(text))
    scalar.type = 'QUOTE_DOUBLE';
  return scalar;
}

function textOf(node: unknown): string | undefined {
  const value: unknown = node instanceof Scalar ? node.value : node;
  return typeof value === 'string' ? value : undefined;
}
