// The code blocks of a page in Markdown, in order, and what it shows as their output.

export interface CodeBlock {
  /** `README.md:12`, where its first line of code is. */
  readonly place: string;
  /** What stands behind the fence: `sh`, `yaml`, or nothing. */
  readonly language: string;
  readonly code: string;
  /** The heading of the second level that it stands below. */
  readonly section: string;
}

/** The fenced blocks of a text. */
export function codeBlocks(page: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let section = '';
  let open: { language: string; line: number } | undefined;
  const lines = text.split('\n');
  lines.forEach((line, i) => {
    const fence = /^```(\w*)/.exec(line);
    if (fence === null) {
      if (open === undefined && line.startsWith('## ')) section = line.slice(3);
    } else if (open === undefined) {
      open = { language: fence[1]!, line: i + 1 };
    } else {
      const code = lines.slice(open.line, i).join('\n');
      blocks.push({ place: `${page}:${open.line + 1}`, language: open.language, code, section });
      open = undefined;
    }
  });
  if (open !== undefined) throw new Error(`${page}:${open.line}: a code block has no end`);
  return blocks;
}

/** The lines that a page shows as the output of a block and that are not in it; a page that leaves things out shows none. */
export function missingLines(page: readonly CodeBlock[], block: CodeBlock, output: string): readonly string[] {
  const next = page[page.indexOf(block) + 1];
  if (next?.language !== '' || next.code.includes('…')) return [];
  const seen = steady(output);
  return steady(next.code)
    .split('\n')
    .filter((line) => !seen.includes(line));
}

/** Without what differs from run to run, and with columns as narrow as can be. */
function steady(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
    .replaceAll(/-[0-9a-f]{5}\b/g, '-ID')
    .replaceAll(/:\d{4,5}\b/g, ':PORT')
    .replaceAll(/\b\d+s\b/g, 'AGE')
    .replaceAll(/ +/g, ' ');
}
