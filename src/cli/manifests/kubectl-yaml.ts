// Parses YAML as kubectl does: YAML 1.1 with some deviations. Used for all `-f` flags.
import { isMap, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml';
import type { Alias, Document, Node, Scalar, ScalarTag, Tags, YAMLParseError } from 'yaml';
import { integerOf } from '../../kube/json.ts';
import { TOO_DEEP, tooDeepYaml } from './yaml-depth.ts';
import { indented } from './yaml-indent.ts';
import { plainMistakes } from './yaml-messages.ts';

/** A position in a text, counted from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** The path of a field in an object. */
export type FieldPath = readonly (string | number)[];

interface YamlProblem extends Position {
  readonly message: string;
  /** kubectl would accept it nevertheless. */
  readonly isWarning?: true;
}

export interface YamlDocument {
  readonly problems: readonly YamlProblem[];
  /** The content as plain data; only for documents without problems other than warnings. */
  readonly value: () => unknown;
  /** The position of a field, or of its nearest existing parent. */
  readonly positionOf: (path: FieldPath) => Position;
}

/** The documents of a text. */
export function parseYaml(text: string): readonly YamlDocument[] {
  const deep = tooDeepYaml(text);
  if (deep !== undefined) return [unparsed(positionIn(text, deep), TOO_DEEP)];
  const strict = parse(text);
  if (strict.documents.every(({ errors }) => errors.length === 0)) return documentsOf(strict, new Map());
  const repaired = indented(text);
  return documentsOf(parse(repaired.text), repaired.added);
}

/** A document that is rejected without parsing. */
function unparsed(position: Position, message: string): YamlDocument {
  return { problems: [{ ...position, message }], value: () => undefined, positionOf: () => position };
}

function positionIn(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

interface Parsed {
  readonly documents: readonly Document.Parsed[];
  readonly lines: LineCounter;
}

function parse(text: string): Parsed {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    version: '1.1',
    merge: true,
    customTags: kubectlTags,
    lineCounter: lines,
    intAsBigInt: true,
  });
  const documents = Array.isArray(parsed) ? parsed : [];
  for (const document of documents) visit(document, { Scalar: narrowInteger });
  return { documents, lines };
}

/** Integers become numbers, unless they are too large. */
function narrowInteger(_key: unknown, node: Scalar): void {
  if (typeof node.value === 'bigint') node.value = integerOf(String(node.value));
}

function documentsOf({ documents, lines }: Parsed, added: ReadonlyMap<number, number>): YamlDocument[] {
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col - (added.get(line) ?? 0), 1) };
  };
  return documents.map((document) => ({
    problems: problemsOf(document).map(({ offset, ...problem }) => ({ ...positionOf(offset), ...problem })),
    value: () => document.toJS() as unknown,
    positionOf: (path) => positionOf(offsetOf(document.contents, path)),
  }));
}

/** The offset of a field's key or of an item; if it does not exist, that of its nearest parent. */
function offsetOf(root: Node | null, at: FieldPath): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const part of at) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = (node as Node | undefined)?.range?.[0] ?? offset;
    } else {
      break;
    }
  }
  return offset;
}

type Found = { readonly offset: number } & Pick<YamlProblem, 'message' | 'isWarning'>;

function problemsOf(document: Document.Parsed): Found[] {
  const errors = document.errors.filter(({ message }) => !message.startsWith('Comments must be separated'));
  const [twice, others] = [errors.filter(isTwice), errors.filter((error) => !isTwice(error))];
  const warnings = twice.map(({ pos }): Found => {
    return { offset: pos[0], message: 'the key is given twice; the last one wins', isWarning: true };
  });
  if (others.length > 0) return [...warnings, ...plainMistakes(others)];
  return [...warnings, ...badAliases(document), ...notJson(document.contents)];
}

function isTwice({ code }: YAMLParseError): boolean {
  return code === 'DUPLICATE_KEY';
}

/** Aliases without an anchor, or so many that their copies would fill the memory. */
function badAliases(document: Document.Parsed): Found[] {
  const aliases: Alias[] = [];
  visit(document, { Alias: (_key, node) => void aliases.push(node) });
  const missing = aliases
    .filter((alias) => alias.resolve(document) === undefined)
    .map(({ source, range }) => ({
      offset: range?.[0] ?? 0,
      message: `no anchor &${source} before the alias *${source}`,
    }));
  if (aliases.length === 0 || missing.length > 0) return missing;
  try {
    document.toJS();
    return [];
  } catch {
    return [{ offset: aliases[0]!.range?.[0] ?? 0, message: 'aliases of aliases would make it too large' }];
  }
}

/** Valid YAML that has no JSON equivalent. */
function notJson(contents: Node | null): Found[] {
  const found: Found[] = [];
  visit(contents, (_key, node) => {
    if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
      found.push({
        offset: node.range?.[0] ?? 0,
        message: `${node.source ?? node.value} is not a number for Kubernetes`,
      });
    }
    for (const { key } of isMap(node) ? node.items : []) {
      if (isScalar(key) && key.value !== null) continue;
      found.push({ offset: (key as Node | null)?.range?.[0] ?? 0, message: 'a key must be a text' });
    }
  });
  return found;
}

/** Octal numbers in both notations, binary data as strings, and no dates, sets or base-60 numbers. */
function kubectlTags(tags: Tags): Tags {
  const excluded = /timestamp|binary|omap|pairs|set$/;
  const kept = tags.filter(
    (tag) => typeof tag === 'string' || (!excluded.test(tag.tag ?? '') && (tag as ScalarTag).format !== 'TIME'),
  );
  return [octal, binary, ...kept];
}

const octal: ScalarTag = {
  identify: (value) => typeof value === 'number',
  default: true,
  tag: 'tag:yaml.org,2002:int',
  format: 'OCT12',
  test: /^0o[0-7_]+$/,
  resolve: (text) => Number.parseInt(text.slice(2).replaceAll('_', ''), 8),
};

const binary: ScalarTag = {
  tag: 'tag:yaml.org,2002:binary',
  resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
};
