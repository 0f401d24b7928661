// Helpers for generated pages.

/** A Markdown table; escapes bars in cells. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** A generated page, with a note that names its source. */
export function writtenPage(source: string, ...paragraphs: readonly string[]): string {
  const note = `<!-- Written by "node scripts/reference.ts" from ${source}. -->`;
  return [note, ...paragraphs].join('\n\n').concat('\n');
}

/** Replaces the generated part of a page, which is between two comments. */
export function withWrittenPart(page: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name}: written by "node scripts/reference.ts" -->`, `<!-- end of ${name} -->`];
  const [before, rest = ''] = page.split(begin);
  const [, after] = rest.split(end);
  if (after === undefined) throw new Error(`the page has no part "${begin}" to "${end}"`);
  return `${before}${begin}\n\n${part}\n\n${end}${after}`;
}
