// The code blocks of a Markdown page, in order, and the output that it shows for them.

export interface CodeBlock {
  /** The position of its first line: `README.md:12`. */
  readonly place: string;
  /** The word after the fence: `sh`, `yaml`, or nothing. */
  readonly language: string;
  readonly code: string;
  /** The second-level heading above it. */
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

/** The lines that a page shows as the output of a block, but are not in it; none if the page abbreviates with `…`. */
export function missingLines(page: readonly CodeBlock[], block: CodeBlock, output: string): readonly string[] {
  const next = page[page.indexOf(block) + 1];
  if (next?.language !== '' || next.code.includes('…')) return [];
  const seen = normalized(output);
  return normalized(next.code)
    .split('\n')
    .filter((line) => !seen.includes(line));
}

/** Replaces what differs between runs, and collapses spaces. */
function normalized(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
    .replaceAll(/-[0-9a-f]{5}\b/g, '-ID')
    .replaceAll(/:\d{4,5}\b/g, ':PORT')
    .replaceAll(/\b\d+s\b/g, 'AGE')
    .replaceAll(/ +/g, ' ');
}
