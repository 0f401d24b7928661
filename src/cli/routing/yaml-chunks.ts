// Splits YAML into chunks that are parsed one by one: documents, and the items of a large List as kubectl prints it.
// The tree of a hundred megabytes would take gigabytes.

export interface Chunk {
  readonly text: string;
  /** The line of the whole text, from 0, at which it starts. */
  readonly line: number;
  /** The fields around an item of a list. */
  readonly list?: { readonly apiVersion?: unknown; readonly kind?: unknown };
}

/** Lists below this size are not split. */
const MAX_WHOLE = 1_000_000;

export function* chunksOf(text: string): Generator<Chunk> {
  for (const document of documentsOf(text)) {
    const items = document.text.length > MAX_WHOLE ? itemsOf(document) : undefined;
    if (items === undefined) yield document;
    else yield* items;
  }
}

/** A line of three dashes always starts a document. */
function* documentsOf(text: string): Generator<Chunk> {
  const marker = /^---(?=[ \t\r\n]|$)/gm;
  let start = 0;
  let line = 0;
  for (let match = marker.exec(text); match !== null; match = marker.exec(text)) {
    const before = text.slice(start, match.index);
    // Directives belong to the document that follows.
    if (match.index === start || before.startsWith('%')) continue;
    yield { text: before, line };
    line += linesIn(before);
    start = match.index;
  }
  yield { text: text.slice(start), line };
}

/** The items of a list whose `items:` starts a line, each as a document; undefined if it has another form. */
function itemsOf({ text, line }: Chunk): Chunk[] | undefined {
  const head = /^items:[ \t]*\r?\n/m.exec(text);
  if (head === null || /^[^#\n]*\s[&*][A-Za-z]/m.test(text.slice(0, MAX_WHOLE))) return undefined;
  const begin = head.index + head[0].length;
  const [, indent] = /^( *)- /.exec(text.slice(begin, begin + 100)) ?? [];
  if (indent === undefined) return undefined;
  const end = endOfItems(text, begin, indent);
  const around = text.slice(0, head.index) + text.slice(end);
  const field = (name: string): string | undefined =>
    new RegExp(`^${name}:[ \\t]*["']?([^\\s"']+)`, 'm').exec(around)?.[1];
  const list = { apiVersion: field('apiVersion'), kind: field('kind') };
  if (!list.kind?.endsWith('List')) return undefined;
  const dash = `\n${indent}- `;
  const chunks: Chunk[] = [];
  let at = begin;
  let atLine = line + linesIn(text.slice(0, begin));
  while (at < end) {
    const next = text.indexOf(dash, at);
    const stop = next < 0 || next >= end ? end : next + 1;
    const item = text.slice(at, stop);
    // Replace the dash by a space, so that columns do not change.
    chunks.push({ text: `${indent} ${item.slice(indent.length + 1)}`, line: atLine, list });
    atLine += linesIn(item);
    at = stop;
  }
  return chunks;
}

/** The offset of the first line after the items. */
function endOfItems(text: string, begin: number, indent: string): number {
  const outside = new RegExp(`^${indent}(?![ \\n\\r#]|- )\\S${indent === '' ? '' : `|^(?!${indent})\\S`}`, 'gm');
  outside.lastIndex = begin;
  return outside.exec(text)?.index ?? text.length;
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
