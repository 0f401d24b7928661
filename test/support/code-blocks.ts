// The code blocks of a page in Markdown, in order.

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
